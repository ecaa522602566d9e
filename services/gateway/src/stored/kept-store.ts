import { type KeptKind, uuidOfStored } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { jsonBounds, readJson } from '@sluice/json';
import type { jobs } from '@sluice/proto-stubs';
import { arrayOf, type JsonObject, objectOf, stringOf } from '@sluice/providers';
import { isUnimplemented } from '@sluice/rpc';
import type { StoredOwner } from './files.ts';
import type { StoredRegister } from './register.ts';

/** A response with all that its model was given. */
export interface KeptResponse {
  readonly response: JsonObject;
  readonly items: readonly JsonObject[];
  /** It is made in the background, and its events can be asked for again. */
  readonly streams?: boolean;
  /** What is still to be made; absent = it is whole. */
  readonly job?: KeptJob;
}

/** A response that is to be made. */
export interface KeptJob {
  readonly request: JsonObject;
  /** Members of it that are not its provider's to say. */
  readonly told: JsonObject;
  /** In which it is said; a UUID. */
  readonly conversation?: string;
  /** How many items of the request's own it ends with. */
  readonly said: number;
}

export interface KeptConversation {
  readonly createdAtS: number;
  readonly metadata: JsonObject;
  readonly items: readonly JsonObject[];
}

interface Kept {
  readonly response: KeptResponse;
  readonly conversation: KeptConversation;
}

/** Which one of what is kept. */
export interface KeptName<Kind extends KeptKind = KeptKind> {
  readonly kind: Kind;
  readonly workspaceId: string;
  /** A UUID. */
  readonly id: string;
}

const writeMsMax = 4_000;
const readMsMax = 10_000;
/** Of those that find that somebody else was faster. */
const triesMax = 12;
const pieceBytes = 256 * 1024;
/** Codes that say that what is kept cannot be asked for now; whatever else is said, holds. */
const away: ReadonlySet<string> = new Set(['file.unavailable', 'file.damaged', 'internal']);

/** Responses and conversations as the data service keeps them: contents as those of files, one after the other. */
export class KeptStore {
  readonly #register: StoredRegister;

  constructor(register: StoredRegister) {
    this.#register = register;
  }

  /** @throws GatewayError `response.too_many`, `response.too_large`, `response.unavailable`, `file.no_store` */
  async create<Kind extends KeptKind>(
    kind: Kind,
    id: string,
    owner: StoredOwner,
    value: Kept[Kind],
  ): Promise<void> {
    await this.#write({ owner, kind, id, version: 0 }, value);
  }

  /**
   * UUIDs of responses of which one answered an item of an id, the newest first, and not all of many.
   * @throws GatewayError `response.unavailable`
   */
  async responsesOf(workspaceId: string, itemIds: readonly string[]): Promise<string[]> {
    const { files } = this.#register;
    try {
      const asked = { workspaceId, itemIds: [...itemIds] };
      return (await this.#register.ask(files.findItems, asked)).ids;
    } catch (error) {
      // A control plane of the release before knows no items.
      if (error instanceof GatewayError && isUnimplemented(error.cause)) return [];
      throw told(error);
    }
  }

  /** @throws GatewayError `response.not_found`, `conversation.not_found`, `response.unavailable` */
  async find<Kind extends KeptKind>(name: KeptName<Kind>): Promise<Kept[Kind]> {
    return (await this.#read(name)).value;
  }

  /** The same, with the bytes that it took. @throws GatewayError as `find` does */
  async findSized<Kind extends KeptKind>(
    name: KeptName<Kind>,
  ): Promise<{ value: Kept[Kind]; bytes: number }> {
    return this.#read(name);
  }

  /**
   * Changes it, whatever others do meanwhile: `change` may be asked several times, and gets what there is.
   * @throws as `find` and `create` do, and `conversation.changed` when others were faster again and again
   */
  async change<Kind extends KeptKind>(
    name: KeptName<Kind>,
    owner: StoredOwner,
    change: (value: Kept[Kind]) => Kept[Kind],
  ): Promise<Kept[Kind]> {
    for (let turn = 1; ; turn += 1) {
      const { value, version } = await this.#read(name);
      const changed = change(value);
      try {
        await this.#write({ owner, kind: name.kind, id: name.id, version }, changed);
        return changed;
      } catch (error) {
        const isBehind = error instanceof GatewayError && error.code === 'conversation.changed';
        if (!isBehind || turn === triesMax) throw error;
        await new Promise((resolve) => setTimeout(resolve, 10 * turn * Math.random()));
      }
    }
  }

  async delete({ kind, workspaceId, id }: KeptName): Promise<void> {
    const { files } = this.#register;
    try {
      await this.#register.ask(files.deleteFile, { workspaceId, id, kind });
    } catch (error) {
      throw told(error);
    }
  }

  async #write(
    head: { owner: StoredOwner; kind: KeptKind; id: string; version: number },
    value: Kept[KeptKind],
  ): Promise<void> {
    const bytes = Buffer.from(JSON.stringify(value));
    try {
      await new Promise<void>((resolve, reject) => {
        const call = this.#register.upload({ failFast: true });
        const timer = setTimeout(() => {
          call.cancel();
          const cause = new Error(`it was not written within ${writeMsMax} ms`);
          reject(new GatewayError('response.unavailable', { cause }));
        }, writeMsMax);
        const settled = (settle: () => void) => () => {
          clearTimeout(timer);
          settle();
        };
        call.on('data', settled(resolve));
        call.on('error', (error) => settled(() => reject(this.#register.faultOf(error)))());
        call.on(
          'end',
          settled(() => reject(new GatewayError('response.unavailable'))),
        );
        call.say({ part: { case: 'head', value: head } });
        for (let at = 0; at < bytes.length; at += pieceBytes)
          call.say({ part: { case: 'piece', value: bytes.subarray(at, at + pieceBytes) } });
        call.say({ part: { case: 'tail', value: { itemIds: answeredItems(value) } } });
        call.end();
      });
    } catch (error) {
      throw told(error);
    }
  }

  async #read<Kind extends KeptKind>(
    name: KeptName<Kind>,
  ): Promise<{ value: Kept[Kind]; version: number; bytes: number }> {
    for (let turn = 1; ; turn += 1) {
      try {
        const { bytes, version } = await this.#readBytes(name);
        const value = readJson(bytes, jsonBounds.kept) as Kept[Kind];
        return { value, version, bytes: bytes.length };
      } catch (error) {
        // Another content took its place between the look and the reading.
        const isReplaced = error instanceof GatewayError && error.code === 'file.damaged';
        if (!isReplaced || turn === triesMax) throw told(error);
      }
    }
  }

  #readBytes({ kind, workspaceId, id }: KeptName): Promise<{ bytes: Buffer; version: number }> {
    const stream = this.#register.read(workspaceId, id, kind);
    const pieces: Buffer[] = [];
    let file: jobs.File | undefined;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        stream.cancel();
        reject(new GatewayError('response.unavailable'));
      }, readMsMax);
      stream.on('data', ({ part }: jobs.ReadFileResponse) => {
        if (part.case === 'file') file = part.value;
        else if (part.case === 'piece') pieces.push(Buffer.from(part.value));
      });
      stream.on('error', (error) => {
        clearTimeout(timer);
        reject(this.#register.faultOf(error));
      });
      stream.on('end', () => {
        clearTimeout(timer);
        if (file === undefined) reject(new GatewayError('response.unavailable'));
        else resolve({ bytes: Buffer.concat(pieces), version: file.version });
      });
    });
  }
}

/** Ids of what a response answered; none of a conversation. */
function answeredItems(value: Kept[KeptKind]): string[] {
  const output = 'response' in value ? arrayOf(value.response.output) : undefined;
  return (output ?? []).flatMap((item) => stringOf(objectOf(item)?.id) ?? []);
}

/** What is away is never said not to be there. */
function told(error: unknown): GatewayError {
  if (!(error instanceof GatewayError))
    return new GatewayError('response.unavailable', { cause: error });
  if (!away.has(error.code)) return error;
  return new GatewayError('response.unavailable', {
    cause: error,
    headers: { 'retry-after': '2' },
  });
}

/** What a caller is told of a failure to reach what is kept. */
export function keptFault(
  error: unknown,
  { faultOf }: Pick<StoredRegister, 'faultOf'>,
): GatewayError {
  return told(faultOf(error));
}

/** @throws GatewayError 404 for what is none of ours */
export function keptUuid(kind: KeptKind, id: string, field?: string): string {
  const uuid = uuidOfStored(kind, id);
  if (uuid === undefined)
    throw new GatewayError(`${kind}.not_found`, { ...(field !== undefined && { field }) });
  return uuid;
}
