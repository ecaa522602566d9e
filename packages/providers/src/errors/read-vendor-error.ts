import type { JsonObject, JsonValue } from '@sluice/contracts';
import { arrayOf, objectOf, parseJson, stringOf } from '../json/json-access.ts';
import type { ErrorFacts } from './error-facts.ts';
import { unreadable } from './unreadable.ts';

/**
 * Reads the error shapes that vendors use: `error{…}` (possibly in an array, as
 * Google's streams have it), `error` as text, FastAPI's `detail`, Fireworks'
 * `fault`, Cloudflare's and Stability's `errors`, AWS's and Oracle's flat
 * `message`, Deepgram's `err_msg`, MiniMax's `base_resp`; else the text itself is the message.
 */
export function readVendorError(status: number, text: string): ErrorFacts {
  const parsed = parseJson(text);
  const body = objectOf(arrayOf(parsed)?.[0] ?? parsed);
  if (body === undefined) return facts(unreadable(text, status));
  const error = objectOf(body.error);
  if (error !== undefined)
    return {
      message: stringOf(error.message) ?? unreadable(text, status),
      type: stringOf(error.type) ?? stringOf(error.status) ?? null,
      param: stringOf(error.param) ?? null,
      code: codeOf(error.code),
    };
  const base = objectOf(body.base_resp);
  if (base !== undefined)
    return facts(stringOf(base.status_msg) ?? unreadable(text, status), codeOf(base.status_code));
  const fault = objectOf(body.fault);
  if (fault !== undefined)
    return facts(
      stringOf(fault.faultstring) ?? unreadable(text, status),
      codeOf(objectOf(fault.detail)?.errorcode),
    );
  const message =
    stringOf(body.error) ??
    textsOf(body.error) ??
    stringOf(body.message) ??
    detailOf(objectOf(body.message)?.detail) ??
    stringOf(body.Message) ??
    stringOf(body.err_msg) ??
    detailOf(body.detail) ??
    errorsOf(body.errors);
  return {
    message: message ?? unreadable(text, status),
    type: typeOf(body) ?? null,
    param: stringOf(body.param) ?? null,
    code: codeOf(body.code),
  };
}

function facts(message: string, code: string | null = null): ErrorFacts {
  return { message, type: null, param: null, code };
}

function codeOf(code: JsonValue | undefined): string | null {
  if (typeof code === 'number') return String(code);
  return stringOf(code) ?? null;
}

/** AWS puts its namespace in front, as in `com.amazon#Throttled`; Oracle's code is the type as well. */
function typeOf(body: JsonObject): string | undefined {
  const isOracle = body.error === undefined && typeof body.message === 'string';
  return (
    stringOf(body.type) ??
    stringOf(body.name) ??
    stringOf(body.__type)?.split('#').at(-1) ??
    detailType(body.detail) ??
    detailType(objectOf(body.message)?.detail) ??
    (isOracle ? stringOf(body.code) : undefined)
  );
}

/** Hugging Face may list what is wrong. */
function textsOf(error: JsonValue | undefined): string | undefined {
  const texts = arrayOf(error)?.filter((text) => typeof text === 'string') ?? [];
  return texts.length === 0 ? undefined : texts.join('; ');
}

/** `detail`: a text, or FastAPI's list of faults with their places. */
function detailOf(detail: JsonValue | undefined): string | undefined {
  if (typeof detail === 'string') return detail;
  const items = (arrayOf(detail) ?? []).flatMap((item) => {
    const object = objectOf(item);
    const message = stringOf(object?.msg);
    if (message === undefined) return [];
    const place = (arrayOf(object?.loc) ?? []).join('.');
    return [place === '' ? message : `${place}: ${message}`];
  });
  return items.length > 0 ? items.join('; ') : stringOf(objectOf(detail)?.message);
}

function detailType(detail: JsonValue | undefined): string | undefined {
  return stringOf(objectOf(arrayOf(detail)?.[0])?.type);
}

function errorsOf(errors: JsonValue | undefined): string | undefined {
  const items = (arrayOf(errors) ?? []).flatMap((item) => {
    if (typeof item === 'string') return [item];
    const object: JsonObject | undefined = objectOf(item);
    const message = stringOf(object?.message);
    if (message === undefined) return [];
    const code = codeOf(object?.code);
    return [code === null ? message : `Error ${code}:${message}`];
  });
  return items.length > 0 ? items.join(', ') : undefined;
}
