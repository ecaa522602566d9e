import { operations } from '@sluice/contracts';
import { isNamedAsText, type JsonObject } from '@sluice/providers';
import { servedBody } from '../calls/prepare/sent-body.ts';
import { unheardBy } from '../compiled/session-hooks.ts';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { Target } from '../exchange/target.ts';
import { addressWords } from '../guardrails/address-words.ts';
import {
  hasTokens,
  isAmbiguous,
  isText,
  type PassedBody,
  passedBody,
} from '../guardrails/passed-body.ts';
import { carriesBody } from '../http/body-stream.ts';

/** A request as enforced guardrails are given it. */
export interface CheckedRequest {
  readonly document: JsonObject;
  /** Why it cannot be judged by what is in it; undefined = it can. */
  readonly unreadable: string | undefined;
  /**
   * The body with other texts, where it is not the document that is sent. Undefined, or to be without an
   * answer: they cannot be put into it.
   */
  readonly rebuild: ((document: JsonObject) => Buffer | undefined) | undefined;
}

/**
 * What is sent to the target, as texts. Whatever could be read as something
 * else by the provider cannot be judged: two members of one name, encodings,
 * tokens in the place of words, files of text in the place of sounds.
 */
export function checkedRequest(
  exchange: ModelExchange,
  target: Target,
  shaped: JsonObject | undefined,
): CheckedRequest {
  const { subject } = exchange;
  if (subject.operation.body === 'raw') return passedRequest(exchange, target);
  const document = shaped ?? servedBody(exchange, target);
  return { document, unreadable: doubtOf(exchange, document), rebuild: undefined };
}

function doubtOf({ subject, bundle }: ModelExchange, document: JsonObject): string | undefined {
  if (subject.operation.reply === 'session') {
    const kind = kindOfSession[subject.operation.id] ?? 'realtime';
    return bundle?.enforced && unheardBy(bundle.enforced, kind);
  }
  if (subject.form !== undefined) {
    const isHidden = subject.form.some(({ filename, data }) =>
      filename === undefined
        ? data.length > fieldBytesMax
        : data.length > 0 && (isText(data) || isNamedAsText(filename)),
    );
    if (isHidden) return 'The form has a text in the place of a file.';
  } else if (subject.body !== undefined && isAmbiguous(subject.body, subject.json))
    return 'The body has several members of one name.';
  return hasTokens(document) ? 'The body has tokens in the place of words.' : undefined;
}

const kindOfSession: Readonly<Record<string, 'translation' | 'responses'>> = {
  [operations.realtimeTranslation.id]: 'translation',
  [operations.responseSession.id]: 'responses',
};

/** As `formFields` reads them. */
const fieldBytesMax = 1024 * 1024;

/** What passes through is not of any format: all that it says counts. */
function passedRequest(exchange: ModelExchange, target: Target): CheckedRequest {
  const { subject, arrival } = exchange;
  const { body, pathname, search } = subject;
  // Of these nothing is sent on; anything else would have been read.
  const isSent = carriesBody(arrival.headers) && !bodyless.has(arrival.method);
  const isUnread = body === undefined && isSent;
  const { headers } = arrival;
  const passed = passedBody({ body, isUnread, address: [pathname, search], headers });
  const { unreadable } = passed;
  if (unreadable !== undefined)
    return { document: passed.document, unreadable, rebuild: undefined };
  const words = addressWords(pathname, search);
  const checked = readRequest(passed, target);
  if (words.length === 0) return checked;
  return {
    document: { ...checked.document, [addressMember]: words },
    unreadable,
    rebuild: ({ [addressMember]: said, ...document }) =>
      JSON.stringify(said) === JSON.stringify(words) ? checked.rebuild?.(document) : undefined,
  };
}

/** Where checks find what the address says. A body's own member of this name counts there no less. */
const addressMember = '$address_of_request';

function readRequest({ document, kind, unreadable }: PassedBody, target: Target): CheckedRequest {
  if (kind === 'list')
    return {
      document,
      unreadable,
      rebuild: ({ body: changed }) => Buffer.from(JSON.stringify(changed)),
    };
  if (kind !== 'object')
    return {
      document: kind === 'none' ? modelled(document, target) : document,
      unreadable,
      rebuild: undefined,
    };
  return {
    document: modelled(document, target),
    unreadable,
    rebuild: (changed) => {
      const { model: _served, ...rest } = changed;
      // The name of the model is told as it was, wherever it stands.
      const model = target.rewritesModel ? target.model : document.model;
      return Buffer.from(JSON.stringify(model === undefined ? rest : { ...rest, model }));
    },
  };
}

const bodyless: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE']);

/** Checks of models find theirs under this name, wherever the address has it. */
function modelled(document: JsonObject, { servedModel }: Target): JsonObject {
  return servedModel === '' ? document : { ...document, model: servedModel };
}
