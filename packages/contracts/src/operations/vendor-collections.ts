import { address, file, made, named, orCommon, skill } from './object-row.ts';
import type { NamedObject, ObjectFacts, ObjectKind } from './operation.ts';

/**
 * What vendors keep at paths that have no row: nothing of it is translated, judged or billed by itself, but whose it is
 * is noted, and what is below its path, or names it in a query or a body, is refused to others. As the vendors' clients have it: `openai` 7.59,
 * `@anthropic-ai/sdk` 1.14, `@google/genai` 3.3, `@mistralai/mistralai` 2.7, November 2026.
 */
export interface VendorCollection {
  readonly at: `/v1/${string}`;
  readonly objects: ObjectFacts & Required<Pick<ObjectFacts, 'lists' | 'makes' | 'names'>>;
}

/** What an agent, and whatever runs one, is given to work with. Agents of the vendor's own are everybody's. */
const equipment = (at: 'body' | `body.${string}`): readonly NamedObject[] => [
  ...orCommon('agent', `${at}.agent`, `${at}.agent.id`, `${at}.agent_id`, `${at}.base_agent`),
  ...named('agent', `${at}.multiagent.agents.*`, `${at}.multiagent.agents.*.id`),
  ...named('environment', `${at}.environment_id`, `${at}.from_environment`),
  ...['environment', 'base_environment'].flatMap((member) => [
    ...named('environment', `${at}.${member}`, `${at}.${member}.environment_id`),
    ...named('environment template', `${at}.${member}.environment_template_id`),
    ...file(`${at}.${member}.files.*.file_id`),
    ...skill(`${at}.${member}.skills.*.skill_id`),
  ]),
  ...named('vault', `${at}.vault_ids.*`),
  ...named('vault credential', `${at}.tools.*.credential_id`, `${at}.agent.tools.*.credential_id`),
  ...named('vector store', `${at}.tools.*.vector_store_ids.*`),
  ...named('library', `${at}.tools.*.library_ids.*`),
  ...named(
    'file search store',
    `${at}.tools.*.file_search_store_names.*`,
    `${at}.agent.tools.*.file_search_store_names.*`,
  ),
  ...named('memory store', `${at}.resources.*.memory_store_id`),
  ...file(`${at}.resources.*.file_id`, `${at}.files.*.file_id`),
  ...skill(`${at}.skills.*.skill_id`, `${at}.agent.skills.*.skill_id`),
];

/** What is said to it. */
const said = (at: `body.${string}`): readonly NamedObject[] => [
  ...file(
    `${at}.file_id`,
    `${at}.content.*.file_id`,
    `${at}.content.*.source.file_id`,
    `${at}.rubric.file_id`,
  ),
  ...address(`${at}.uri`, `${at}.content.*.uri`),
];

const names: readonly NamedObject[] = [
  ...equipment('body'),
  // Of an automation, what it is to begin or to go on with.
  ...equipment('body.target'),
  ...named('agent session', 'body.session_id', 'body.target.session_id', 'query.session_id'),
  ...named('agent', 'query.agent_id'),
  ...named('environment', 'query.environment_id'),
  ...named(
    'memory store',
    'query.memory_store_id',
    'body.memory_store_id',
    'body.output_behavior.memory_store_id',
    'body.inputs.*.memory_store_id',
  ),
  ...named('agent session', 'body.inputs.*.session_ids.*'),
  ...file('body.file_id', 'body.fileName', 'body.file_name'),
  ...skill('body.skill_id'),
  ...said('body.input.*'),
  ...said('body.inputs.*'),
  ...said('body.events.*'),
  ...said('body.initial_events.*'),
  ...named('interaction', 'body.previous_interaction_id'),
  ...named('cached content', 'body.cached_content'),
];

/** @param told  the `object` or `type` of the vendor's document, of each vendor that has it */
function collection(
  at: VendorCollection['at'],
  kind: ObjectKind,
  told: readonly (string | undefined)[],
  id = 'id',
): VendorCollection {
  return {
    at,
    objects: {
      lists: kind,
      makes: told.map((object) => made(kind, object, id)),
      names,
      mayFlow: true,
    },
  };
}

/** Below it Google takes what is sent up: bytes, which name nothing. */
function sentUp(at: VendorCollection['at'], kind: ObjectKind, id: string): VendorCollection {
  return { at, objects: { lists: kind, makes: [made(kind, undefined, id)], names: [] } };
}

export const vendorCollections: readonly VendorCollection[] = [
  collection('/v1/agents', 'agent', ['agent', undefined]),
  collection('/v1/agents/sessions', 'agent session', ['agent.session']),
  collection('/v1/agents/environments', 'environment', ['agent.environment']),
  collection('/v1/agents/environments/templates', 'environment template', [
    'agent.environment.template',
  ]),
  collection('/v1/agents/automations', 'automation', ['agent.automation']),
  collection('/v1/sessions', 'agent session', ['session']),
  collection('/v1/environments', 'environment', ['environment', undefined]),
  collection('/v1/vaults', 'vault', ['vault']),
  collection('/v1/vaults/:vault_id/credentials', 'vault credential', [
    'vault.credential',
    'vault_credential',
  ]),
  collection('/v1/memory_stores', 'memory store', ['memory_store']),
  collection('/v1/dreams', 'dream', ['dream']),
  collection('/v1/tunnels', 'tunnel', ['tunnel']),
  collection('/v1/user_profiles', 'user profile', ['user_profile']),
  collection('/v1/interactions', 'interaction', ['interaction', undefined]),
  collection('/v1/cachedContents', 'cached content', [undefined], 'name'),
  collection(
    '/v1/projects/:project/locations/:location/cachedContents',
    'cached content',
    [undefined],
    'name',
  ),
  collection('/v1/fileSearchStores', 'file search store', [undefined], 'name'),
  sentUp('/v1/upload/:version/files', 'file', 'file.name'),
  sentUp('/v1/upload/:version/fileSearchStores', 'file search store', 'name'),
  collection('/v1/libraries', 'library', ['library', undefined]),
];

/** Kinds whose ids may be told as names of resources: `files/a`, `cachedContents/a`, `projects/p/locations/l/cachedContents/a`. */
export const namedResources: ReadonlySet<ObjectKind> = new Set(
  vendorCollections.map(({ objects }) => objects.lists),
);

/** What a request in Gemini's words names, at whichever path its model has. */
const ofGemini: ObjectFacts = {
  names: [
    ...named('cached content', 'body.cachedContent', 'body.cached_content'),
    ...named(
      'file search store',
      'body.tools.*.fileSearch.fileSearchStoreNames.*',
      'body.tools.*.file_search.file_search_store_names.*',
    ),
    // Rows of a batch.
    ...file('body.batch.inputConfig.fileName', 'body.batch.input_config.file_name'),
    ...address(
      'body.contents.*.parts.*.fileData.fileUri',
      'body.contents.*.parts.*.file_data.file_uri',
    ),
  ],
  mayFlow: true,
};

/** Paths below which a model is asked in words that no row has. */
export const vendorModels: readonly {
  readonly at: `/v1/${string}`;
  readonly objects: ObjectFacts;
}[] = [
  '/v1/models/:model',
  '/v1/tunedModels/:model',
  '/v1/projects/:project/locations/:location/publishers/:publisher/models/:model',
  '/v1/projects/:project/locations/:location/endpoints/:endpoint',
].map((at) => ({ at: at as `/v1/${string}`, objects: ofGemini }));
