import type { KubernetesObject } from '../chart/render.ts';
import type { KubernetesSecret } from '../provision/kubernetes-api.ts';
import { type MadeSecrets, makeSecrets } from '../provision/make-secrets.ts';

/** As the chart's own Job makes them, and the Secret with the stores. */
export async function secretValues(
  objects: readonly KubernetesObject[],
  stores: Readonly<Record<string, string>>,
): Promise<Map<string, Record<string, string>>> {
  const job = objects.find(
    ({ metadata, kind }) => kind === 'Job' && metadata.name === 'sluice-provision',
  );
  const wanted = JSON.parse(job?.spec.template.spec.containers[0].env[0].value) as MadeSecrets;
  const held = new Map<string, KubernetesSecret>();
  await makeSecrets(
    {
      read: async (name) => held.get(name),
      create: async (secret) => {
        held.set(secret.metadata.name, secret);
        return true;
      },
      patch: async (name, data) => {
        const secret = held.get(name) as KubernetesSecret;
        held.set(name, { ...secret, data: { ...secret.data, ...data } });
      },
    },
    wanted,
    new Date(),
  );
  const values = new Map<string, Record<string, string>>([['stores', { ...stores }]]);
  for (const [name, { data }] of held)
    values.set(
      name,
      Object.fromEntries(
        Object.entries(data ?? {}).map(([key, value]) => [
          key,
          Buffer.from(value, 'base64').toString('utf8'),
        ]),
      ),
    );
  return values;
}
