/**
 * Where a call that passes through says which model serves it. The vendors'
 * paths of all providers stand in one list, since a custom host may speak any
 * of them. Start at `readModelPath`.
 */

/** What a path tells about the model of a call. */
export interface ModelPath {
  /**
   * Who says which model serves the call. `path`: the path itself. `body`: members
   * of a JSON body. `query`: the query, whatever the body is. `nobody`: no model
   * serves it, but its body may name one. `files`: nor does its body, which may be anything.
   */
  from: 'path' | 'body' | 'query' | 'nobody' | 'files';
  /** Ways to write the model that the path names, the most usual first; empty where it names none. */
  names: readonly string[];
  /** With `body`: where the model stands; one of these members must be there. `*` = each item of a list. */
  members: readonly string[];
}

interface Rule {
  path: string;
  pattern: RegExp;
  from: ModelPath['from'];
  members: readonly string[];
  write: (named: Readonly<Record<string, string>>) => string[];
}

/** What may stand before a path without changing what it means. */
const anyRoot =
  '(?:/(?:openai|anthropic|api|beta|mlflow|ai-gateway|inference|compatibility|compat|v\\d[a-z0-9.]*))*';

function rule(
  from: ModelPath['from'],
  path: string,
  members: readonly string[] = [],
  write: Rule['write'] = ({ model = '' }) => [model],
): Rule {
  return { path, pattern: patternOf(path), from, members, write };
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${anyRoot}(?:${path})$`, 'i');
}

const location = '(?:/projects/[^/]+/locations/[^/]+)?';
const model = '(?<model>[^/]+)';

const rules: readonly Rule[] = [
  // OpenAI and all that follow it; Anthropic; Cohere; Mistral; Ollama.
  rule(
    'body',
    '/(?:chat/completions|completions|fim/completions|embeddings|responses(?:/input_tokens|/compact)?|moderations|chat/moderations|classifications|rerank|ocr|messages|messages/count_tokens|chat|embed|generate|tokenize|images/(?:generations|edits|variations)|audio/(?:speech|transcriptions|translations)|videos(?:/edits|/extensions|/(?!characters/)[^/]+/remix)?|video/generations|fine_tuning/jobs|assistants|threads/runs|threads/[^/]+/runs|embedding/text)',
    ['model'],
  ),
  rule(
    'body',
    '/realtime/(?:sessions|transcription_sessions|(?:translations/)?(?:client_secrets|calls)|calls/[^/]+/accept)',
    ['model', 'session.model'],
  ),
  rule('body', '/batches', ['model', 'provider_options.model']),
  rule('body', '/messages/batches', ['requests.*.params.model']),
  // On Vertex AI two paths look as if they named a model.
  rule('body', `${location}/endpoints/openapi/(?:chat/completions|completions|embeddings)`, [
    'model',
  ]),
  rule('body', `${location}/publishers/anthropic/models/count-tokens:rawPredict`, ['model']),
  rule('body', `${location}/rankingConfigs/[^/]+:rank`, ['model']),
  rule('body', '/async-invoke', ['modelId']),
  rule('body', '(?:/\\d{8})?/actions/(?:chat|embedText|generateText|rerankText)', [
    'servingMode.modelId',
    'servingMode.endpointId',
  ]),
  rule('body', '/image/generation', ['model_name']),
  rule('body', '/predictions', ['version']),
  rule('body', '/text-to-speech/[^/]+(?:/stream|/with-timestamps|/stream/with-timestamps)?', [
    'model_id',
  ]),
  rule('query', '/(?:listen|speak|realtime)'),

  // Azure OpenAI, and OpenAI's first API.
  rule(
    'path',
    `/(?:deployments|engines)/${model}/(?:extensions/)?(?:chat/completions|completions|embeddings|responses|images/(?:generations|edits|variations)|audio/(?:speech|transcriptions|translations))`,
  ),
  // Gemini on either of Google's hosts.
  rule('path', `/models/${model}:[a-z]+`, [], ({ model: name = '' }) => [name, `models/${name}`]),
  rule('path', `/tunedModels/${model}:[a-z]+`, [], ({ model: name = '' }) => [
    `tunedModels/${name}`,
  ]),
  rule(
    'path',
    `${location}/publishers/(?<publisher>[^/]+)/models/${model}:[a-z]+`,
    [],
    ({ publisher = '', model: name = '' }) => [
      ...(publisher === 'google' ? [name] : []),
      `${publisher}.${name}`,
      `${publisher}/${name}`,
      `publishers/${publisher}/models/${name}`,
    ],
  ),
  rule(
    'path',
    `${location}/endpoints/${model}(?::[a-z]+|/chat/completions)`,
    [],
    ({ model: name = '' }) => [`endpoints.${name}`, `endpoints/${name}`],
  ),
  // Bedrock, SageMaker, Databricks, Cloudflare, Triton.
  rule(
    'path',
    `/model/${model}/(?:converse|converse-stream|invoke|invoke-with-response-stream|invoke-with-bidirectional-stream|count-tokens)`,
  ),
  rule('path', `/endpoints/${model}/(?:invocations|invocations-response-stream|async-invocations)`),
  rule('path', `/serving-endpoints/${model}/invocations`),
  rule('path', '/run/(?<model>.+)'),
  rule('path', `/models/${model}(?:/versions/[^/]+)?/(?:infer|generate|generate_stream)`),
  // Pictures: Stability, Fireworks; anything: Replicate, Hugging Face.
  rule('path', `/generation/${model}/[a-z/-]+`),
  rule('path', `/stable-image/generate/${model}`),
  rule('path', '/(?:workflows|image_generation)/(?<model>.+?)(?:/text_to_image)?', [], fireworks),
  rule('path', '/(?:models|deployments)/(?<model>[^/]+/[^/]+)/predictions'),

  // What only keeps things.
  rule('files', '/(?:files|uploads)(?:/.*)?'),
  rule(
    'nobody',
    '/(?:vector_stores|containers|conversations)(?:/.*)?|/threads(?:/[^/]+(?:/messages(?:/[^/]+)?|/runs/[^/]+(?:/submit_tool_outputs|/cancel)?)?)?|/assistants/[^/]+|(?:/messages)?/batches/[^/]+/cancel|/fine_tuning/jobs/[^/]+/(?:cancel|pause|resume)|/responses/[^/]+/cancel|/realtime/calls/[^/]+/(?:reject|refer|hangup)|/videos/characters|/audio/(?:voices|voice_consents)(?:/[^/]+)?',
  ),
];

/** Of any of them: most paths that pass through are of none, and are compared once. */
const anyRule = patternOf(rules.map(({ path }) => path).join('|'));

function fireworks({ model: name = '' }: Readonly<Record<string, string>>): string[] {
  const short = /^accounts\/fireworks\/models\/(.+)$/.exec(name)?.[1];
  return short === undefined ? [name] : [name, short];
}

/**
 * What the path of a pass-through call, as the caller wrote it behind `/v1` or
 * `/v1/proxy`, tells about the model; undefined = nothing that is known, also
 * of a path that two readers may decode differently.
 */
export function readModelPath(rest: string): ModelPath | undefined {
  const path = decodedPath(rest);
  if (path === undefined || !anyRule.test(path)) return undefined;
  for (const { pattern, from, members, write } of rules) {
    const found = pattern.exec(path);
    if (found === null) continue;
    const names = from === 'path' ? write(decodedGroups(found.groups)) : [];
    return { from, names, members };
  }
  return undefined;
}

/** Whether a path asks for a stream: of vendors whose bodies have no word for that. */
export function asksStreamAt(path: string): boolean {
  return streaming.test(path);
}

const streaming =
  /(?::(?:streamGenerateContent|streamRawPredict)|\/(?:converse-stream|invoke-with-response-stream|invocations-response-stream|generate_stream))\/?$/;

/** Nothing in it is escaped, or may be read in two ways. */
const plain = /^[\w/.:~-]*$/;

/** Each segment decoded once; slashes that stand within one stay escaped. */
function decodedPath(rest: string): string | undefined {
  if (plain.test(rest)) return rest.replace(/\/{1,8}$/, '');
  const segments: string[] = [];
  for (const segment of rest.replace(/\/{1,8}$/, '').split('/')) {
    let decoded: string;
    try {
      decoded = decodeURIComponent(segment);
    } catch {
      return undefined;
    }
    // Who decodes once more, or takes a backslash for a slash, would read another path.
    if (/%[0-9a-f]{2}|[\\\p{Cc}]/iu.test(decoded)) return undefined;
    segments.push(decoded.replaceAll('/', '%2F'));
  }
  return segments.join('/');
}

function decodedGroups(groups: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(groups).map(([name, value]) => [name, value.replaceAll('%2F', '/')]),
  );
}
