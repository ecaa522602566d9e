import { randomBytes } from 'node:crypto';

/** How the slug of each kind of thing is made: a prefix, and how much of the name it shows. */
const shapes = {
  config: { prefix: 'pc-', nameLength: 6 },
  workspace: { prefix: 'ws-', nameLength: 6 },
  provider: { prefix: '', nameLength: 15 },
  integration: { prefix: '', nameLength: 15 },
  'mcp-integration': { prefix: '', nameLength: 15 },
  'mcp-server': { prefix: '', nameLength: 15 },
  'agent-integration': { prefix: '', nameLength: 15 },
  'agent-server': { prefix: '', nameLength: 15 },
  guardrail: { prefix: 'pg-', nameLength: 6 },
  'secret-reference': { prefix: '', nameLength: 15 },
  prompt: { prefix: 'pp-', nameLength: 10 },
  partial: { prefix: 'pl-', nameLength: 6 },
  collection: { prefix: '', nameLength: 15 },
  'api-key': { prefix: '', nameLength: 15 },
} as const;

/** `<prefix><start of the name>-<6 hex>`, e.g. `pc-pplx-c-ca7a87` for a config called "Pplx Cache Test". */
export function generateSlug(kind: keyof typeof shapes, name: string): string {
  const { prefix, nameLength } = shapes[kind];
  const start = kebab(name).slice(0, nameLength).replace(/-$/, '');
  return `${prefix}${start === '' ? '' : `${start}-`}${randomBytes(3).toString('hex')}`;
}

function kebab(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
}
