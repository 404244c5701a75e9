const LABEL = '[a-z]([-a-z0-9]*[a-z0-9])?';
const labelRegExp = new RegExp(`^${LABEL}$`);

/** DNS-1035 label, at most 63: services. It starts with a letter. */
export function dns1035LabelProblems(value: string): string[] {
  const problems = value.length > 63 ? ['must be no more than 63 characters'] : [];
  if (!labelRegExp.test(value)) {
    problems.push(
      `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${LABEL}')`,
    );
  }
  return problems;
}
