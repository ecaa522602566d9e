import type { Refusal } from './refusal.ts';

/**
 * What Gemini refuses, as its errors say and its pages on function calling,
 * thinking and thought signatures: https://ai.google.dev/gemini-api/docs,
 * November 2026. `model` as the address names it.
 */
export function refuseGemini(model: string, body: unknown): Refusal | undefined {
  const request = body as GeminiRequest;
  const message =
    faultOfSampling(request.generationConfig, model) ??
    faultOfContents(request.contents, model) ??
    faultOfThinking(request.generationConfig?.thinkingConfig, model) ??
    faultOfTools(request) ??
    faultOfStored(request);
  return message === undefined ? undefined : invalidArgument(message);
}

/** What every API of Google takes in a query: https://cloud.google.com/apis/docs/system-parameters, November 2026. */
const systemParameters = new Set([
  '$.xgafv',
  'access_token',
  'alt',
  'callback',
  'fields',
  'key',
  'oauth_token',
  'prettyPrint',
  'quotaUser',
  'upload_protocol',
  'uploadType',
]);

/** What Google refuses of an address: any parameter of its query that it does not know. */
export function refuseGoogleQuery(path: string): Refusal | undefined {
  const { searchParams } = new URL(path, 'https://generativelanguage.googleapis.com');
  const unknown = [...searchParams.keys()].find((name) => !systemParameters.has(name));
  if (unknown === undefined) return undefined;
  return invalidArgument(
    `Invalid JSON payload received. Unknown name "${unknown}": Cannot bind query parameter. Field '${unknown}' could not be found in request message.`,
  );
}

/** Nothing of Google's is without a version. */
export function refuseGooglePath(path: string): Refusal | undefined {
  if (/^\/(?:upload\/)?v\d[a-z0-9]*\//.test(path)) return undefined;
  const message = `The requested URL ${path} was not found on this server.`;
  return { status: 404, body: { error: { code: 404, message, status: 'NOT_FOUND' } } };
}

function invalidArgument(message: string): Refusal {
  return { status: 400, body: { error: { code: 400, message, status: 'INVALID_ARGUMENT' } } };
}

/** What stands for the signature of a call that another model made. */
const skippedGeminiSignature = 'skip_thought_signature_validator';

interface GeminiRequest {
  contents?: Content[];
  tools?: { functionDeclarations?: unknown[] }[];
  toolConfig?: { functionCallingConfig?: unknown };
  generationConfig?: Config;
  systemInstruction?: unknown;
  cachedContent?: string;
}

function faultOfStored(request: GeminiRequest): string | undefined {
  const { cachedContent, systemInstruction, tools, toolConfig } = request;
  if (cachedContent === undefined) return undefined;
  return [systemInstruction, tools, toolConfig].some((field) => field !== undefined)
    ? 'CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config.'
    : undefined;
}

interface Config {
  thinkingConfig?: Thinking;
  frequencyPenalty?: number;
  presencePenalty?: number;
}

interface Content {
  role?: string;
  parts?: Part[];
}

interface Part {
  text?: string;
  functionCall?: { name?: string; id?: string };
  functionResponse?: { name?: string; id?: string };
  thoughtSignature?: unknown;
}

interface Thinking {
  thinkingBudget?: number;
  thinkingLevel?: string;
}

function faultOfContents(contents: Content[] | undefined, model: string): string | undefined {
  if (contents === undefined || contents.length === 0) return 'contents is not specified';
  for (const [index, { parts = [] }] of contents.entries()) {
    if (parts.length === 0) return `contents[${index}].parts must not be empty.`;
    for (const [place, { thoughtSignature }] of parts.entries())
      if (thoughtSignature !== undefined && !isSignature(thoughtSignature))
        return `Invalid value at 'contents[${index}].parts[${place}].thought_signature' (TYPE_BYTES), Base64 decoding failed`;
    const before = contents[index - 1]?.parts ?? [];
    const asked = before.filter((part) => part.functionCall !== undefined).length;
    const told = parts.filter((part) => part.functionResponse !== undefined).length;
    if (asked !== told)
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
    if (isStricter(model) && !samePairs(before, parts))
      return 'Function response id does not match the id of its function call.';
  }
  if (isStricter(model) && contents.at(-1)?.role === 'model')
    return 'Requests whose last turn is of the role model are not supported by this model.';
  return isThirdGeneration(model) ? faultOfCalls(contents) : undefined;
}

/** The first call of each step since the user spoke last. */
function faultOfCalls(contents: Content[]): string | undefined {
  const turn = contents.findLastIndex(
    ({ role, parts = [] }) =>
      role === 'user' && !parts.some((part) => part.functionResponse !== undefined),
  );
  for (const { parts = [] } of contents.slice(turn + 1)) {
    const call = parts.find((part) => part.functionCall !== undefined);
    if (call !== undefined && call.thoughtSignature === undefined)
      return `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, function call \`${call.functionCall?.name}\`.`;
  }
  return undefined;
}

function isSignature(value: unknown): boolean {
  if (value === skippedGeminiSignature) return true;
  return typeof value === 'string' && /^[A-Za-z0-9+/_-]+={0,2}$/.test(value);
}

function isThirdGeneration(model: string): boolean {
  return /^gemini-([3-9]|pro-latest|flash-latest)/.test(model);
}

/**
 * Flash from 3.6, Flash-Lite from 3.5 on: https://ai.google.dev/gemini-api/docs/whats-new-gemini-3.6
 */
function isStricter(model: string): boolean {
  const [, version = '0', isLite] = /^gemini-(\d\.\d)-flash(-lite)?/.exec(model) ?? [];
  return Number(version) >= (isLite === undefined ? 3.6 : 3.5);
}

function samePairs(asked: Part[], told: Part[]): boolean {
  const idsOf = (calls: ({ id?: string } | undefined)[]): string =>
    calls
      .map((call) => call?.id ?? '')
      .sort()
      .join();
  const isThere = <Value>(value: Value | undefined): boolean => value !== undefined;
  return (
    idsOf(asked.map(({ functionCall }) => functionCall).filter(isThere)) ===
    idsOf(told.map(({ functionResponse }) => functionResponse).filter(isThere))
  );
}

/** Temperatures are ignored without a word; penalties are not. */
function faultOfSampling(config: Config = {}, model: string): string | undefined {
  const hasPenalty = [config.frequencyPenalty, config.presencePenalty].some(
    (penalty) => (penalty ?? 0) !== 0,
  );
  return hasPenalty && isStricter(model) ? 'Penalty is not enabled for this model.' : undefined;
}

function faultOfThinking(thinking: Thinking | undefined, model: string): string | undefined {
  if (thinking === undefined) return undefined;
  const { thinkingBudget: budget, thinkingLevel: level } = thinking;
  if (budget !== undefined && level !== undefined)
    return 'You can only set only one of thinking budget and thinking level.';
  if (level === undefined) return budget === 0 && cannotStop(model) ? noStop(model) : undefined;
  const isKnown = isThirdGeneration(model) && !(level === 'minimal' && lacksMinimal(model));
  return isKnown
    ? undefined
    : `Thinking level ${level.toUpperCase()} is not supported for this model. Please retry with other thinking level.`;
}

function cannotStop(model: string): boolean {
  return isThirdGeneration(model) || model.startsWith('gemini-2.5-pro');
}

function noStop(model: string): string {
  return `Budget 0 is invalid. This model (${model}) only works in thinking mode.`;
}

function lacksMinimal(model: string): boolean {
  return /-pro|^gemini-3\.[78]-flash$/.test(model);
}

function faultOfTools({ tools = [], toolConfig }: GeminiRequest): string | undefined {
  const declared = tools.some((tool) => (tool.functionDeclarations?.length ?? 0) > 0);
  return toolConfig?.functionCallingConfig === undefined || declared
    ? undefined
    : 'Function calling config is set without function_declarations.';
}
