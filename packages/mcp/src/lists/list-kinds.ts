import type { CapabilityType } from '../access/server-view.ts';

export interface ListKind {
  readonly method: string;
  /** Of the result, the member with the items. */
  readonly member: string;
  readonly type: CapabilityType;
  /** Of an item, what it is known by. */
  readonly field: 'name' | 'uri' | 'uriTemplate';
}

export const listKinds: readonly ListKind[] = [
  { method: 'tools/list', member: 'tools', type: 'tool', field: 'name' },
  { method: 'prompts/list', member: 'prompts', type: 'prompt', field: 'name' },
  { method: 'resources/list', member: 'resources', type: 'resource', field: 'uri' },
  {
    method: 'resources/templates/list',
    member: 'resourceTemplates',
    type: 'resource_template',
    field: 'uriTemplate',
  },
];

const byMethod = new Map(listKinds.map((kind) => [kind.method, kind]));

export function listKindOf(method: string): ListKind | undefined {
  return byMethod.get(method);
}
