import { randomBytes } from 'node:crypto';
import { createServiceKey } from '@sluice/contracts';
import { isFresh, issueCertificate, makeAuthority } from './certificates.ts';
import type { SecretsApi } from './kubernetes-api.ts';

/**
 * What an installation has once, as the chart describes it. A key's recipe is
 * `hex:BYTES`, `base64url:BYTES`, `key:PREFIX` (a service key), or `text:…`
 * with `{OTHER}` for a key that is none.
 */
export interface MadeSecrets {
  readonly labels: Readonly<Record<string, string>>;
  readonly secrets: readonly {
    readonly name: string;
    readonly keys: Readonly<Record<string, string>>;
  }[];
  readonly certificates?: {
    /** The Secret that has the authority, with its key. */
    readonly authority: string;
    readonly days: number;
    readonly of: readonly { readonly name: string; readonly dnsNames: readonly string[] }[];
  };
}

const authorityDays = 3650;

/**
 * Makes what is missing, and never changes what is there: whatever was sealed
 * with a key would be lost with it. Only certificates are made anew, before
 * they end or when their names are others.
 * @returns what was made, by name, for the log
 */
export async function makeSecrets(
  api: SecretsApi,
  wanted: MadeSecrets,
  now: Date,
): Promise<string[]> {
  const made: string[] = [];
  const ensure = async (
    name: string,
    type: string,
    values: (held: Values) => Promise<Values>,
  ): Promise<Values> => {
    // Two jobs may run at once: who comes second takes what the first made.
    for (let tries = 0; tries < 3; tries += 1) {
      const there = await api.read(name);
      const held = decoded(there?.data ?? {});
      const missing = await values(held);
      if (Object.keys(missing).length === 0) return held;
      const data = encoded(missing);
      if (there === undefined) {
        const created = await api.create({
          metadata: { name, labels: wanted.labels },
          type,
          data,
        });
        if (!created) continue;
      } else await api.patch(name, data);
      made.push(`${name}: ${Object.keys(missing).join(', ')}`);
      return { ...held, ...missing };
    }
    throw new Error(`Secret ${name} is made and deleted by somebody else all the time.`);
  };

  for (const { name, keys } of wanted.secrets)
    await ensure(name, 'Opaque', async (held) => followRecipes(keys, held));
  if (wanted.certificates !== undefined) {
    const { authority, days, of } = wanted.certificates;
    const held = await ensure(authority, 'Opaque', async (values): Promise<Values> => {
      if (values['ca.crt'] !== undefined && values['ca.key'] !== undefined) return {};
      const { cert, key } = await makeAuthority(authority, { now, days: authorityDays });
      return { 'ca.crt': cert, 'ca.key': key };
    });
    const issuer = { cert: held['ca.crt'] ?? '', key: held['ca.key'] ?? '' };
    for (const { name, dnsNames } of of)
      await ensure(name, 'kubernetes.io/tls', async (values): Promise<Values> => {
        const cert = values['tls.crt'];
        if (cert !== undefined && isFresh(cert, issuer.cert, dnsNames, now)) return {};
        const issued = await issueCertificate(issuer, dnsNames, { now, days });
        return { 'tls.crt': issued.cert, 'tls.key': issued.key, 'ca.crt': issuer.cert };
      });
  }
  return made;
}

type Values = Readonly<Record<string, string>>;

function followRecipes(recipes: Values, held: Values): Values {
  const values: Record<string, string> = {};
  const missing = Object.entries(recipes).filter(([name]) => held[name] === undefined);
  const isText = ([_name, recipe]: [string, string]) => recipe.startsWith('text:');
  // What is made of others comes after them.
  for (const [name, recipe] of [
    ...missing.filter((each) => !isText(each)),
    ...missing.filter(isText),
  ])
    values[name] = follow(name, recipe, { ...held, ...values });
  return values;
}

function follow(name: string, recipe: string, known: Values): string {
  const colon = recipe.indexOf(':');
  const kind = recipe.slice(0, colon);
  const rest = recipe.slice(colon + 1);
  switch (kind) {
    case 'hex':
    case 'base64url':
      return randomBytes(Number(rest)).toString(kind);
    case 'key':
      return createServiceKey(rest);
    case 'text':
      return rest.replace(/\{(\w+)\}/g, (_all, other: string) => {
        const value = known[other];
        if (value === undefined)
          throw new Error(`${name} is made of ${other}, which is not there.`);
        return value;
      });
    default:
      throw new Error(`${name} has a recipe of an unknown kind: ${kind}`);
  }
}

function decoded(data: Values): Values {
  return mapped(data, (value) => Buffer.from(value, 'base64').toString('utf8'));
}

function encoded(values: Values): Values {
  return mapped(values, (value) => Buffer.from(value).toString('base64'));
}

function mapped(values: Values, change: (value: string) => string): Values {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
}
