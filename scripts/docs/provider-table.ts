/**
 * Writes docs/providers.md from the catalogue. `npm run generate` runs it;
 * `npm run check` fails when the page has fallen behind.
 */
import type { Endpoint } from '@sluice/contracts';
import {
  type AuthRecipe,
  findProvider,
  modesOf,
  type ProviderEntry,
  providerIds,
} from '@sluice/providers';
import { table } from './table.ts';

/** Columns, in the order in which readers look for them; pass-through is there for all. */
const titles: Readonly<Record<Exclude<Endpoint, 'proxy'>, string>> = {
  chatComplete: 'chat',
  messages: 'messages',
  createModelResponse: 'responses',
  complete: 'completions',
  messagesCountTokens: 'count tokens',
  embed: 'embeddings',
  rerank: 'rerank',
  moderate: 'moderations',
  imageGenerate: 'images',
  imageEdit: 'image edits',
  imageVariation: 'variations',
  createSpeech: 'speech',
  createTranscription: 'transcriptions',
  createTranslation: 'translations',
  ocr: 'ocr',
  listModels: 'models',
  realtime: 'realtime',
  realtimeTranslation: 'live translation',
  responseSession: 'responses over WebSocket',
};
const columns = Object.entries(titles) as [Endpoint, string][];

const head = `# Providers

Made from the catalogue by \`npm run generate\`; do not edit.

Every provider here can be called by any path through pass-through, with its authorisation added. Beyond that:

- **native**: the provider speaks the endpoint's format; bytes pass as they are, save the quirks of its entry.
- **translated**: the request is translated for the provider, and its reply and stream back.
- **both**: depends on the model.

Providers without any other endpoint are **proxied** only. How to add one: [adding-a-provider.md](adding-a-provider.md).
`;

/** The whole page. */
export function providerPage(): string {
  const providers = providerIds()
    .sort()
    .map((id) => findProvider(id) as ProviderEntry);
  const offers = table(
    ['provider', ...columns.map(([, title]) => title)],
    providers.map((provider) => [
      `\`${provider.id}\``,
      ...columns.map(([endpoint]) => how(provider, endpoint)),
    ]),
  );
  const addresses = table(
    ['provider', 'name', 'address', 'authorisation', 'settings', 'to know', 'source'],
    providers.map(describe),
  );
  return `${head}
${providers.length} providers.

## Endpoints

${offers}
## Addresses

An address in braces is made of settings or of the model. A setting \`some-name\` is sent as \`x-service-some-name\`, or kept in
the provider's configurations or a config's target as \`some_name\`. Every address gives way to a custom host.

${addresses}`;
}

function how(provider: ProviderEntry, endpoint: Endpoint): string {
  const modes = modesOf(provider, endpoint);
  if (modes.size > 1) return 'both';
  const [mode] = modes;
  if (mode !== undefined) return mode;
  return Object.keys(provider.endpoints).length === 0 && endpoint === 'chatComplete'
    ? 'proxied'
    : '';
}

function describe(provider: ProviderEntry): string[] {
  const aliases = (provider.aliases ?? []).map((alias) => `\`${alias}\``);
  return [
    [`\`${provider.id}\``, ...aliases].join(', '),
    provider.name,
    address(provider),
    authorisation(provider.auth),
    (provider.settings ?? []).map((name) => `\`${name}\``).join(', '),
    provider.note ?? '',
    provider.source,
  ];
}

function address(provider: ProviderEntry): string {
  const { baseUrl, settings = [] } = provider;
  if (baseUrl === '') return 'custom host';
  if (typeof baseUrl === 'string') return `\`${baseUrl}\``;
  const facts = { model: 'model', stream: false };
  // Without settings where it has a default, else with their names in place of values.
  const attempts = [
    () => baseUrl({ ...facts, setting: () => undefined }),
    () =>
      settings.reduce(
        (url, name) => url.replaceAll(name, `{${name}}`),
        baseUrl({ ...facts, setting: (name) => settings.find((known) => known === name) }),
      ),
  ];
  for (const attempt of attempts) {
    try {
      const url = attempt();
      if (url !== '') return `\`${url}\``;
    } catch {
      // A setting is missing, or must be a whole address: the next attempt, or words, tell.
    }
  }
  return 'a setting, or a custom host';
}

function authorisation(recipe: AuthRecipe): string {
  switch (recipe.type) {
    case 'none':
      return 'none';
    case 'bearer':
      return `\`authorization: ${recipe.scheme ?? 'Bearer'} …\``;
    case 'header':
      return `\`${recipe.header}\``;
    case 'basic':
      return 'basic';
    case 'headers':
      return 'headers';
    case 'aws':
      return `AWS signature (${recipe.service}) or key`;
    case 'google':
      return 'Google token';
    case 'azure':
      return `\`${recipe.keyHeader}\` or Entra token`;
    case 'oci':
      return 'OCI signature';
  }
}
