import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { policyBody } from '../fixture.ts';
import type { Harness } from '../harness.ts';

/** A fresh resource of the first organisation's default workspace, and every way to name it in a path. */
export interface Made {
  id: string;
  references: string[];
}

export type Kind = 'api-key' | 'workspace' | 'integration' | 'provider' | 'config' | 'policy';

export const random = () => randomBytes(6).toString('hex');

export function maker(h: Harness): (kind: Kind) => Promise<Made> {
  const post = async (path: string, body: object, key = h.first.workspace_key) => {
    const answer = await h.as(key).post(path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body;
  };
  const make: Record<Kind, () => Promise<Made>> = {
    async 'api-key'() {
      const { id } = await post('/api-keys/workspace/service', {
        name: 'Made',
        scopes: ['completions.write'],
      });
      return { id, references: [id] };
    },
    async workspace() {
      const { slug } = await post('/admin/workspaces', { name: 'Made' }, h.first.admin_key);
      const row = await h.db.workspace.findFirstOrThrow({ where: { slug } });
      return { id: row.id, references: [slug, row.id] };
    },
    async integration() {
      const { id, slug } = await post('/integrations', {
        name: 'Made',
        ai_provider_id: 'openai',
        key: `sk-${random()}`,
      });
      return { id, references: [slug, id] };
    },
    async provider() {
      const { slug: integration } = await post('/integrations', {
        name: 'Made',
        ai_provider_id: 'openai',
        create_default_provider: false,
      });
      const { id, slug } = await post('/providers', { name: 'Made', integration_id: integration });
      return { id, references: [slug, id] };
    },
    async config() {
      const { data } = await post('/configs', { name: 'Made', config: { provider: '@demo' } });
      return { id: data.id, references: [data.slug, data.id] };
    },
    async policy() {
      const { id } = await post('/policies/rate-limits', policyBody);
      return { id, references: [id] };
    },
  };
  return (kind) => make[kind]();
}
