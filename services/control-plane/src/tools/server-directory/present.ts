import { isIP } from 'node:net';
import { mcpServerUrl } from '@sluice/contracts';
import type { AnswerOf } from '@sluice/contracts/admin';
import { instant } from '../../kernel/http/shapes.ts';
import type { ListedServer } from './store.ts';

type Entry = AnswerOf<'mcp-registry.list'>['servers'][number];

/** https://github.com/modelcontextprotocol/registry/blob/main/docs/reference/server-json/generic-server-json.md */
const schema = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';

/** Under which clients of the community's registry look for dates and status. */
const official = 'io.modelcontextprotocol.registry/official';

/** What the format allows for a title and a description. */
const textMax = 100;

/** Who vouches for the servers: the host callers use, as reverse DNS; a host without a name vouches for nothing. */
export function namespaceOf(baseUrl: string): string {
  const host = baseUrl === '' ? '' : new URL(baseUrl).hostname;
  const hasName = isIP(host) === 0 && /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(host);
  return hasName ? host.split('.').reverse().join('.') : 'local.sluice';
}

export function presentEntry(row: ListedServer, baseUrl: string): Entry {
  return {
    server: {
      $schema: schema,
      // Of namespaces, the format knows no underscore.
      name: `${namespaceOf(baseUrl)}.${row.workspaceSlug.replaceAll('_', '-')}/${row.slug}`,
      title: cut(row.name),
      description: cut(row.description || row.name),
      version: row.version ?? '0.0.0',
      // A path is no address to who reads this elsewhere.
      ...(baseUrl !== '' && {
        remotes: [{ type: 'streamable-http' as const, url: mcpServerUrl(baseUrl, row.slug) }],
      }),
    },
    _meta: {
      [official]: {
        status: 'active',
        publishedAt: instant(row.createdAt),
        updatedAt: instant(row.updatedAt),
        isLatest: true,
      },
    },
  };
}

/** By characters, so that none is cut in half. */
function cut(text: string): string {
  return [...text].slice(0, textMax).join('');
}
