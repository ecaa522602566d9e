import { fromUnknown, GatewayError } from '@sluice/errors';
import { type JsonObject, objectOf } from '@sluice/providers';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { PreparedCall } from '../exchange/prepared-call.ts';
import { jsonObjectIn } from '../http/json-body.ts';
import { repeatedMember } from '../http/repeated-members.ts';
import { idsInBody } from '../owners/ids-in-request.ts';
import { noteMade } from '../owners/note-made.ts';
import type { OwnerNotes } from '../owners/owner-notes.ts';
import { namesInBody } from '../owners/passing-ids.ts';
import { othersField, ownerUnknown } from '../owners/refuse-others.ts';
import { ownersOf } from '../owners/route-to-owner.ts';
import { typeOfFrame } from './frame-type.ts';

/** One of these stands in an event that names something, however it is escaped. */
const hints = ['_id', '_url', 'conversation', 'container', '\\u'];

/** Whose that is which responses over a WebSocket name, and make: each event of the caller's is a request of its own. */
export class SessionObjects {
  /** Undefined = what is said in it names nothing that stays at a provider. */
  static of(
    exchange: ModelExchange,
    call: PreparedCall,
    owners: OwnerNotes,
  ): SessionObjects | undefined {
    const { objects } = exchange.subject.operation;
    return namesInBody(objects) ? new SessionObjects(exchange, call, owners) : undefined;
  }

  readonly #exchange: ModelExchange;
  readonly #call: PreparedCall;
  readonly #owners: OwnerNotes;
  readonly #note: ReturnType<typeof noteMade>;

  constructor(exchange: ModelExchange, call: PreparedCall, owners: OwnerNotes) {
    this.#exchange = exchange;
    this.#call = call;
    this.#owners = owners;
    const { makes = [] } = exchange.subject.operation.objects ?? {};
    this.#note = noteMade(owners, { exchange, call, makes });
  }

  /** @returns why a frame of the caller's must not go on; undefined at once = it names nothing. Never rejects. */
  judge(frame: Buffer): GatewayError | Promise<GatewayError | undefined> | undefined {
    if (!hints.some((hint) => frame.includes(hint))) return undefined;
    const event = jsonObjectIn(frame);
    // What one reader finds in it another may not.
    if (event === undefined)
      return new GatewayError('request.malformed_json', {
        field: 'event',
        message: 'The event cannot be read, and may name what others keep.',
      });
    try {
      return this.#judge(event, frame);
    } catch (error) {
      return fromUnknown(error);
    }
  }

  #judge(
    event: JsonObject,
    frame: Buffer,
  ): GatewayError | Promise<GatewayError | undefined> | undefined {
    const { names = [] } = this.#exchange.subject.operation.objects ?? {};
    const ids = [event, objectOf(event.response)].flatMap((asked) =>
      asked === undefined ? [] : idsInBody(names, asked),
    );
    if (ids.length === 0) return undefined;
    const repeated = repeatedMember(frame);
    if (repeated !== undefined)
      return new GatewayError('request.ambiguous_member', {
        field: 'event',
        message: `The event has the member "${repeated.slice(0, 80)}" twice in one object, and names objects by their ids.`,
      });
    return ownersOf(this.#exchange, this.#owners, ids).then((named) => {
      const field = othersField(named, this.#call);
      return field === undefined ? undefined : ownerUnknown(field.replace(/^body\b/, 'event'));
    }, fromUnknown);
  }

  /** What the provider tells of a response: it is noted when its first event is on its way. */
  hear(frame: Buffer): void {
    if (!tellsOfResponse.test(typeOfFrame(frame) ?? '')) return;
    const response = objectOf(jsonObjectIn(frame)?.response);
    if (response === undefined) return;
    if (response.store === false && response.background !== true) return;
    void Promise.all(this.#note(response));
  }
}

const tellsOfResponse = /^response\.(?:created|queued|completed|incomplete|failed)$/;
