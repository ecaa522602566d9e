import { needsCredentials, type PartnerId } from '@sluice/contracts/checks';
import { jsonBounds, readJsonText } from '@sluice/json';
import { type JsonObject, type JsonValue, textsOf } from '@sluice/providers';
import { type CheckContext, CheckError, type CheckOutcome, type HostAnswer } from '../check.ts';
import type { Compile } from '../compile.ts';
import { replaced } from '../replaced.ts';
import { requiredSubject } from '../text-check.ts';
import { namesHost } from './address.ts';
import type { Asked, AskedWith, Partner, PartnerVerdict } from './partner.ts';
import { Reply } from './reply.ts';

/** What all partners can be told. */
interface CommonParameters {
  readonly credentials?: object | undefined;
  readonly not?: boolean;
  readonly redact?: boolean;
  readonly subjects?: Parameters<typeof textsOf>[1];
  readonly forwardHeaders?: readonly string[] | undefined;
}

/**
 * The check that a partner makes: texts are asked of it, its answer is read,
 * redacted parts are put back. Whatever is no clear answer is no verdict.
 */
export function partnerCheck<Id extends PartnerId>(
  id: Id,
  partner: Partner<NoInfer<Id>>,
): Compile<Id> {
  return (parameters) => {
    const common: CommonParameters = parameters;
    const asking = new Asking(partner, common.forwardHeaders);
    return (context) => {
      if (common.credentials === undefined && needsCredentials(id))
        throw new CheckError('InvalidParameters', `${partner.name} needs credentials.`);
      return judge(asking, { parameters, context }, common);
    };
  };
}

async function judge<Id extends PartnerId>(
  asking: Asking<Id>,
  { parameters, context }: Pick<Asked<Id>, 'parameters' | 'context'>,
  common: CommonParameters,
): Promise<CheckOutcome> {
  const { name, only, each = false } = asking.partner;
  if (only !== undefined && only !== context.event)
    throw new CheckError(
      'NotSupported',
      `${name} looks at ${only === 'beforeRequest' ? 'requests' : 'answers'} only.`,
    );
  const texts = textsOf(context, common.subjects);
  requiredSubject(texts.joined);
  const places = texts.parts.flatMap((part, index) => (part === '' ? [] : [index]));
  const parts = places.map((index) => texts.parts[index] ?? '');
  const groups = each ? parts.map((part) => [part]) : [parts];
  if (groups.length > groupsMax)
    throw new CheckError('TextTooLong', `The text has more than ${groupsMax} parts.`);

  const credentials = common.credentials as Asked<Id>['credentials'];
  const question = textsOf({ ...context, event: 'beforeRequest' }, common.subjects).joined;
  const verdicts = await Promise.all(
    groups.map((group) => {
      const text = group.join('\n');
      const { event } = context;
      return asking.ask({
        parameters,
        credentials,
        event,
        parts: group,
        text,
        question,
        context,
        token: undefined,
      });
    }),
  );
  const back: (string | null)[] = texts.parts.map(() => null);
  verdicts
    .flatMap((verdict, at) => verdict.redacted ?? groups[at]?.map(() => null) ?? [])
    .forEach((part, at) => {
      back[places[at] ?? -1] = part;
    });
  const isRedacted = back.some((part) => part !== null);
  const found = verdicts.some((verdict) => verdict.found);
  const not = common.not === true;
  // With `not` something must be there; taken out, it was.
  const verdict = not ? found || isRedacted : !found;
  const explanation = explain(name, found, isRedacted);
  return {
    verdict,
    data: { verdict, not, explanation, ...dataOf(verdicts) },
    ...replaced(context, texts, back),
  };
}

/** Questions at a time: a text of a thousand parts must not become a flood. */
const groupsMax = 32;

/** Asks one partner, and keeps the token that it gave for signing in. */
class Asking<Id extends PartnerId> {
  readonly partner: Partner<Id>;
  readonly #forwardHeaders: readonly string[] | undefined;
  #token: Promise<string> | undefined;

  constructor(partner: Partner<Id>, forwardHeaders: readonly string[] | undefined) {
    this.partner = partner;
    this.#forwardHeaders = forwardHeaders;
  }

  async ask(given: Asked<Id>): Promise<PartnerVerdict> {
    const asked = { ...given, token: await this.#signedIn(given) };
    let answer = await this.#answer(asked);
    if (answer.status === 401 && asked.token !== undefined) {
      // Tokens end, and nobody knows better when than who takes them.
      this.#token = undefined;
      asked.token = await this.#signedIn(given);
      answer = await this.#answer(asked);
    }
    return this.partner.verdict(readReply(this.partner.name, answer), asked);
  }

  #answer(asked: Asked<Id>): Promise<HostAnswer> {
    const request = this.partner.request(asked);
    return asked.context.ask({
      ...request,
      ...authorOf(request.url, asked),
      forwardHeaders: this.#forwardHeaders,
      retriesMax: 1,
    });
  }

  /** Questions that come meanwhile wait for the same token; one that was not given is asked for again. */
  #signedIn(asked: Asked<Id>): Promise<string | undefined> {
    const { name, signIn } = this.partner;
    const request = signIn?.request(asked);
    if (signIn === undefined || request === undefined) return Promise.resolve(undefined);
    this.#token ??= asked.context
      .ask({ ...request, ...authorOf(request.url, asked), retriesMax: 1 })
      .then((answer) => signIn.token(readReply(name, answer)))
      .catch((error: unknown) => {
        this.#token = undefined;
        throw error;
      });
    return this.#token;
  }
}

/** Whose the host is: that of whoever wrote it into the check, or the service's own. */
function authorOf(
  url: string,
  { credentials, parameters }: Pick<AskedWith<object>, 'parameters'> & { credentials: unknown },
): { by?: 'vendor' } {
  const written = [credentials, parameters].flatMap((values) => Object.values(values ?? {}));
  return namesHost(written, url) ? {} : { by: 'vendor' };
}

/** @throws CheckError for every answer that is not a 2xx of JSON; its text is not told, it may repeat a credential */
function readReply(name: string, { status, body }: HostAnswer): Reply {
  if (status < 200 || status > 299)
    throw new CheckError('HostFailed', `${name} answered with the status ${status}.`);
  try {
    return new Reply(readJsonText(body.toString('utf8'), jsonBounds.reply) as JsonValue, name);
  } catch {
    throw new CheckError('HostFailed', `${name} gave an answer that is no JSON.`);
  }
}

function explain(name: string, found: boolean, isRedacted: boolean): string {
  if (found) return `${name} found something.`;
  return isRedacted ? `${name} found something, and it was taken out.` : `${name} found nothing.`;
}

function dataOf(verdicts: readonly PartnerVerdict[]): JsonObject {
  const telling = verdicts.flatMap(({ data }) => (data === undefined ? [] : [data]));
  const [first, ...others] = telling;
  if (first === undefined) return {};
  return { result: others.length === 0 ? first : telling };
}

/** How partners call whoever says the text: a user before the request, the assistant after it. */
export function roleOf(event: CheckContext['event']): 'user' | 'assistant' {
  return event === 'beforeRequest' ? 'user' : 'assistant';
}

/** The parts as messages of a conversation. */
export function messagesOf({
  event,
  parts,
}: {
  event: CheckContext['event'];
  parts: readonly string[];
}): JsonObject[] {
  return parts.map((content) => ({ role: roleOf(event), content }));
}
