import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { namespaceOf, presentEntry } from './present.ts';

describe('namespaceOf', () => {
  it.each([
    ['https://mcp.example.com', 'com.example.mcp'],
    ['https://example.com:8443/gateway', 'com.example'],
    ['http://localhost:8787', 'local.sluice'],
    ['http://192.0.2.7', 'local.sluice'],
    ['http://[2001:db8::1]:8787', 'local.sluice'],
    ['', 'local.sluice'],
  ])('of %s is %s', (base, namespace) => {
    expect(namespaceOf(base)).toBe(namespace);
  });
});

/**
 * What the community's JSON schema demands of what is listed here, in our words: that document is not ours to keep.
 * https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json
 */
const community = z.object({
  $schema: z.url(),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: z
    .string()
    .max(255)
    .refine((version) => version !== 'latest'),
  remotes: z
    .array(
      z.object({ type: z.literal('streamable-http'), url: z.string().regex(/^https?:\/\/\S+$/) }),
    )
    .optional(),
});

it('M28: an entry is one of the community’s registry, whatever names there are', () => {
  const slug = fc.stringMatching(/^[a-zA-Z0-9_-]{3,50}$/);
  const text = fc.string({ minLength: 1, maxLength: 300, unit: 'grapheme' });
  const base = fc.constantFrom('', 'http://127.0.0.1:8787', 'https://mcp.example.com/gateway');
  const row = fc.record({
    workspaceSlug: slug,
    slug,
    name: text,
    description: fc.option(fc.constantFrom('', 'd'.repeat(500), 'ü')),
    version: fc.option(fc.constantFrom('1.2.3', '2026-01')),
    createdAt: fc.constant(new Date()),
    updatedAt: fc.constant(new Date()),
  });
  fc.assert(
    fc.property(row, base, (one, baseUrl) => {
      const { server } = presentEntry(one as Parameters<typeof presentEntry>[0], baseUrl);
      expect(community.safeParse(server).error?.issues).toBeUndefined();
    }),
    { numRuns: 200 },
  );
});
