import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import { nameColumn } from '../table/column.ts';
import type { Kind } from './kind.ts';
import { fieldAt } from './metadata-rules.ts';
import { mapField } from './number-rules.ts';
import { templateDefaults } from './pod-defaults.ts';
import { nodeSelectorText } from './pod-text.ts';
import { containerColumns, templateErrors } from './template-rules.ts';
import { typed } from './types/typed.ts';

export const podTemplates: Kind = {
  resource: 'podtemplates',
  singular: 'podtemplate',
  kind: 'PodTemplate',
  served: [{ group: '', version: 'v1' }],
  namespaced: true,
  nameProblems: dnsSubdomainProblems,
  defaults: (template) => mapField(template, 'template', templateDefaults),
  validate: (template) => templateErrors(template['template'], 'template'),
  columns: [
    nameColumn,
    ...containerColumns('template').map((column) => ({ ...column, wide: false })),
    {
      name: 'Pod Labels',
      description: 'Labels of its pods.',
      cell: (template) => nodeSelectorText(fieldAt(template, 'template', 'metadata', 'labels')),
    },
  ],
  schema: typed('PodTemplate', 'What pods are made of.'),
};
