import { dnsLabelProblems, dnsSubdomainProblems, labelValueProblems, qualifiedNameProblems } from '../../kube/api/names.ts';

/** What a text of a configuration must be, when it is not; undefined: it is. */
export type MustBe = (text: string) => string | undefined;

export const mustBeLabelKey: MustBe = (text) =>
  qualifiedNameProblems(text).length > 0 ? 'a label key, such as topology.kubernetes.io/zone' : undefined;

export const mustBeLabelValue: MustBe = (text) => (labelValueProblems(text).length > 0 ? 'the value of a label' : undefined);

export const mustBeResource: MustBe = (text) =>
  qualifiedNameProblems(text).length > 0 ? 'the name of a resource, such as cpu or example.com/gpu' : undefined;

export const mustBeExtendedResource: MustBe = (text) =>
  qualifiedNameProblems(text).length > 0 || !text.includes('/') || /^([^/]*\.)?kubernetes\.io\//.test(text)
    ? 'the name of a resource with a domain of its own, such as example.com/gpu'
    : undefined;

export const mustBeDomain: MustBe = (text) =>
  dnsSubdomainProblems(text).length > 0 ? 'a domain in front of resources, such as example.com' : undefined;

export const mustBeNamespace: MustBe = (text) => (dnsLabelProblems(text).length > 0 ? 'a namespace' : undefined);

export const mustBeObjectName: MustBe = (text) => (dnsSubdomainProblems(text).length > 0 ? 'a DNS name in lower case' : undefined);

export const mustBeUrl: MustBe = (text) =>
  /^https?:\/\/[^\s/?#]+(?:\/[^\s?#]*)?$/.test(text) && URL.canParse(text) ? undefined : 'a URL, such as https://extender.example:8888/v1';

export const mustBeImage: MustBe = (text) =>
  /^[^\s]{1,1000}$/.test(text) ? undefined : 'an image, such as registry.example.com/pause:3.9';
