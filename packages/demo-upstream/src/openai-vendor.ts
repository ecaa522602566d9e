import type { IncomingHttpHeaders } from 'node:http';
import { isObject, type Vendor, VendorFault } from './protocol.ts';

/** A fixed moment, so that answers are the same byte for byte. */
export const createdAt = 1_735_689_600;

const models = [
  'gpt-4o-mini',
  'gpt-4o',
  'text-embedding-3-small',
  'omni-moderation-latest',
  'whisper-1',
  'tts-1',
  'gpt-realtime',
  'dall-e-3',
  'demo-rerank',
  'claude-demo',
  'demo-fast',
  'demo-100-events',
  'demo-slow',
];

/** Errors as https://platform.openai.com/docs/guides/error-codes has them. */
export const openAiVendor: Vendor = {
  parseBody(text) {
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      throw new VendorFault(
        400,
        'We could not parse the JSON body of your request. (HINT: This likely means you aren’t using your HTTP library correctly.)',
      );
    }
    if (!isObject(body)) throw invalidType('body', 'an object', body);
    if (body.model === undefined || body.model === '')
      throw new VendorFault(400, 'you must provide a model parameter');
    if (typeof body.model !== 'string') throw invalidType('model', 'a string', body.model);
    return body as typeof body & { model: string };
  },
  scriptedFault(status) {
    if (status === 429)
      return new VendorFault(429, 'Rate limit reached for requests. Please try again in 1s.', {
        type: 'requests',
        code: 'rate_limit_exceeded',
        headers: { 'retry-after': '1' },
      });
    if (status >= 500)
      return new VendorFault(
        status,
        'The server had an error while processing your request. Sorry about that!',
      );
    return new VendorFault(status, `The demo model was asked to answer with ${status}.`);
  },
  errorBody(fault) {
    const type = fault.type ?? (fault.status >= 500 ? 'server_error' : 'invalid_request_error');
    return { error: { message: fault.message, type, param: fault.param, code: fault.code } };
  },
};

export function missing(param: string): VendorFault {
  return new VendorFault(400, `Missing required parameter: '${param}'.`, {
    param,
    code: 'missing_required_parameter',
  });
}

export function invalidType(param: string, expected: string, actual: unknown): VendorFault {
  const message = `Invalid type for '${param}': expected ${expected}, but got ${typeName(actual)} instead.`;
  return new VendorFault(400, message, { param, code: 'invalid_type' });
}

/** An optional number in its range. @throws VendorFault */
export function optionalNumber(
  value: unknown,
  param: string,
  min: number,
  max = Number.MAX_SAFE_INTEGER,
): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number') throw invalidType(param, 'a number', value);
  if (value < min || value > max) {
    const bound = value < min ? `>= ${min}` : `<= ${max}`;
    throw new VendorFault(
      400,
      `Invalid '${param}': expected a value ${bound}, but got ${value} instead.`,
      {
        param,
        code: value < min ? 'integer_below_min_value' : 'integer_above_max_value',
      },
    );
  }
  return value;
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Anthropic's client sends its version header; the list has that vendor's shape then. */
export function listModels(headers: IncomingHttpHeaders): unknown {
  if (headers['anthropic-version'] === undefined)
    return {
      object: 'list',
      data: models.map((id) => ({
        id,
        object: 'model',
        created: createdAt,
        owned_by: 'sluice-demo',
      })),
    };
  const data = models.map(anthropicModel);
  return { data, has_more: false, first_id: models[0], last_id: models.at(-1) };
}

export function retrieveModel(id: string, headers: IncomingHttpHeaders): unknown {
  const name = decodeURIComponent(id);
  return headers['anthropic-version'] === undefined
    ? { id: name, object: 'model', created: createdAt, owned_by: 'sluice-demo' }
    : anthropicModel(name);
}

function anthropicModel(id: string) {
  return { type: 'model', id, display_name: id, created_at: '2025-01-01T00:00:00Z' };
}
