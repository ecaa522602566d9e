import type { JsonValue } from '@sluice/contracts';
import type { ReadSetting } from '../../call-facts.ts';
import { betasOf } from '../anthropic-messages/encode-request.ts';

/**
 * Betas of Claude as Bedrock knows them: a name of its own, or null for what it
 * refuses. What is not listed passes, since new betas come faster than releases.
 * Sources: Anthropic's beta headers and Bedrock's "Claude beta features", which
 * name few of them; the rest as other gateways found out, November 2026.
 */
const renames: Readonly<Record<string, readonly string[] | null>> = {
  'advanced-tool-use-2025-11-20': ['tool-search-tool-2025-10-19', 'tool-examples-2025-10-29'],
  'advisor-tool-2026-03-01': null,
  'code-execution-2025-05-22': null,
  'code-execution-2025-08-25': null,
  'extended-cache-ttl-2025-04-11': null,
  'fast-mode-2026-02-01': null,
  'files-api-2025-04-14': null,
  'mcp-client-2025-04-04': null,
  'mcp-client-2025-11-20': null,
  'mcp-servers-2025-12-04': null,
  'message-batches-2024-09-24': null,
  'oauth-2025-04-20': null,
  'prompt-caching-2024-07-31': null,
  'prompt-caching-scope-2026-01-05': null,
  'skills-2025-10-02': null,
  'token-counting-2024-11-01': null,
  'web-fetch-2025-09-10': null,
  'web-search-2025-03-05': null,
};

/** The betas asked for by header and body, as Bedrock takes them. */
export function bedrockBetas(inBody: JsonValue | undefined, setting: ReadSetting): string[] {
  const asked = [
    ...betasOf({ anthropic_beta: setting('anthropic-beta') ?? [] }),
    ...betasOf({ anthropic_beta: inBody ?? [] }),
  ];
  const known = asked.flatMap((beta) =>
    Object.hasOwn(renames, beta) ? (renames[beta] ?? []) : [beta],
  );
  return [...new Set(known)];
}
