import type { JsonObject } from '@sluice/contracts';
import { valueEnd } from '@sluice/json';
import type { Who } from '../access/decide.ts';
import type { ServerView } from '../access/server-view.ts';
import {
  type McpMessage,
  type McpResponse,
  messageBounds,
  readMessage,
} from '../envelope/read-message.ts';
import { type FilteredList, type FilterOptions, filterList } from './filter-list.ts';

/** A page as it came last: its result, read once. */
interface KnownPage {
  readonly bytes: Buffer;
  readonly result: JsonObject;
  readonly meta: JsonObject | undefined;
  /** Where the result stands in the bytes. */
  readonly start: number;
  readonly end: number;
}

/** What was shown of a page by one set of rules. */
interface ShownPage {
  readonly view: ServerView;
  readonly who: string;
  readonly isModern: boolean;
  readonly list: FilteredList;
  /** The result as it was shown; undefined = as it came. */
  readonly result: Buffer | undefined;
}

/** Of all pages together, bytes; what is read of them and shown of them takes some times as much. */
const bytesMax = 2 * 1024 * 1024;
/** What is around the result of a page that is taken for the one before. */
const envelopeBytesMax = 4096;
/** Of one page, by who may see different things. */
const shownMax = 2;
const noResult = Buffer.from('{}');
const resultName = Buffer.from('"result"');

/**
 * Pages of lists as they came last: a server answers the same nearly always, and comparing the bytes of a result takes a hundredth of
 * reading, judging and writing them anew.
 */
export class KnownPages {
  readonly #pages = new Map<string, KnownPage>();
  /** By what was read: how it was shown, and how many bytes of a result it was. */
  readonly #shown = new WeakMap<
    JsonObject,
    { readonly length: number; readonly as: ShownPage[] }
  >();
  #bytes = 0;

  /**
   * Reads an answer as `readMessage` does. One whose result is that of the answer before at this place is read by its envelope alone.
   * @param place whose page it is, and which
   * @throws McpFault
   */
  read(place: string, bytes: Buffer): McpMessage {
    const known = this.#pages.get(place);
    const again = known === undefined ? undefined : readAgain(known, bytes);
    if (again !== undefined) return again;
    // Its own bytes: what they came in may be larger.
    const own = bytes.length < bytesMax ? Buffer.from(bytes) : bytes;
    const message = readMessage(own, messageBounds.upstream);
    if (message.kind === 'response' && own !== bytes) this.#keep(place, message);
    return message;
  }

  /** As `filterList` does; what it said of the same page is said again. */
  filter(view: ServerView, who: Who, reply: McpResponse, options: FilterOptions): FilteredList {
    const page = this.#shown.get(reply.result);
    if (page === undefined) return filterList(view, who, reply, options);
    const { length, as: shown } = page;
    const { isModern } = options;
    // Without rules over who asks all users who may list see the same.
    const hasRules = view.levels.some(({ rules }) => rules !== undefined);
    const whoText = hasRules ? JSON.stringify(who) : (who.userId ?? '');
    const known = shown.find(
      (page) => page.view === view && page.who === whoText && page.isModern === isModern,
    );
    if (known !== undefined) return { ...known.list, bytes: shownAgain(reply, length, known) };
    const list = filterList(view, who, reply, options);
    const { bytes, resultStart } = reply;
    // What is around the result stays as it is.
    const behind = list.bytes.length - (bytes.length - resultStart - length);
    const result = list.bytes === bytes ? undefined : list.bytes.subarray(resultStart, behind);
    if (shown.length === shownMax) shown.shift();
    shown.push({ view, who: whoText, isModern, list: { ...list, bytes: noResult }, result });
    return list;
  }

  #keep(place: string, { bytes, result, meta, resultStart }: McpResponse): void {
    const before = this.#pages.get(place);
    if (before !== undefined) this.#drop(place, before);
    const end = valueEnd(bytes, resultStart);
    const page = { bytes, result, meta, start: resultStart, end };
    this.#pages.set(place, page);
    this.#shown.set(result, { length: end - resultStart, as: [] });
    this.#bytes += bytes.length;
    for (const [oldest, old] of this.#pages) {
      if (this.#bytes <= bytesMax) return;
      this.#drop(oldest, old);
    }
  }

  #drop(place: string, { bytes }: KnownPage): void {
    this.#pages.delete(place);
    this.#bytes -= bytes.length;
  }
}

function shownAgain(
  { bytes, resultStart }: McpResponse,
  length: number,
  { result }: ShownPage,
): Buffer {
  if (result === undefined) return bytes;
  const behind = bytes.subarray(resultStart + length);
  return Buffer.concat([bytes.subarray(0, resultStart), result, behind]);
}

/**
 * The answer, where its result is byte by byte that of the page: then what is around it is all there is to read. With an empty object in
 * the result's place that is a message if, and only if, the whole is one.
 */
function readAgain(page: KnownPage, bytes: Buffer): McpResponse | undefined {
  const length = page.end - page.start;
  const envelope = bytes.length - length;
  if (envelope <= 0 || envelope > envelopeBytesMax) return undefined;
  if (bytes.length > messageBounds.upstream.bytesMax) return undefined;
  const name = bytes.subarray(0, envelope).indexOf(resultName);
  const start = name < 0 ? -1 : bytes.indexOf(openObject, name + resultName.length);
  const end = start + length;
  if (start < 0 || end > bytes.length) return undefined;
  if (page.bytes.compare(bytes, start, end, page.start, page.end) !== 0) return undefined;
  const around = Buffer.concat([bytes.subarray(0, start), noResult, bytes.subarray(end)]);
  let message: McpMessage;
  try {
    message = readMessage(around, messageBounds.upstream);
  } catch {
    // Read as a whole it says what is wrong.
    return undefined;
  }
  if (message.kind !== 'response' || message.resultStart !== start) return undefined;
  const { result, meta } = page;
  return { ...message, bytes, document: { ...message.document, result }, result, meta };
}

const openObject = 0x7b;
