import { pipeline, type Readable, Transform } from 'node:stream';
import type { NamedObject, ObjectFacts } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { PassingTexts } from '@sluice/json';
import type { NamedObjects } from '../exchange/named-objects.ts';
import { idLengthMax, NamedIds } from './ids-in-request.ts';

type Ids = NamedObjects['ids'];

/** What a body that is not read says. */
export interface Said {
  /** That no earlier piece named. */
  readonly ids: Ids;
  /** Something of it stays at the provider, as the operation's `stored` has it. */
  readonly isKept: boolean;
}

type Looked = Pick<ObjectFacts, 'names' | 'stored'>;

/** Where a body says that something of it is kept. */
interface Signs {
  readonly texts: Readonly<Record<string, RegExp>>;
  readonly truths: readonly string[];
}

const anyText = /./s;
/** The same that is read of a body that was parsed (`visit/steps/note-owner.ts`). */
const signsOf: Readonly<Record<string, Signs>> = {
  'when-asked': { texts: {}, truths: ['body.store'] },
  'when-held': {
    texts: {
      'body.thread.type': anyText,
      'body.container': anyText,
      'body.diagnostics.previous_message_id': anyText,
      'body.container.id': anyText,
      'body.container.skills.*.skill_id': anyText,
      'body.tools.*.type': /^code_execution_/,
    },
    truths: [],
  },
};
const noSigns: Signs = { texts: {}, truths: [] };

export function hasSigns(stored: ObjectFacts['stored']): boolean {
  return stored !== undefined && signsOf[stored] !== undefined;
}

/** Six bytes an escaped character. */
const textBytesMax = 6 * idLengthMax;

/** Whether a body may say what its request is about, of what stays at the provider. */
export function namesInBody(facts: ObjectFacts | undefined): boolean {
  return facts?.names?.some(({ at }) => at.startsWith('body.')) === true;
}

/** All that a body names which was read and could not be parsed. @throws GatewayError as for one that passes */
export function saidInBytes(body: Buffer, facts: Looked): Said {
  return new PassingIds(facts).add(body);
}

/**
 * A body that nobody has read, as the provider gets it: each piece is passed on
 * when all that it names may be named. `judge` throws for what may not; the
 * provider then never has the whole of the body.
 */
export function watchedBody(
  body: Readable,
  facts: Looked,
  judge: (said: Said) => void | Promise<void>,
): Readable {
  const reader = new PassingIds(facts);
  const watching = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      pass(chunk).then(
        () => done(null, chunk),
        (error: Error) => done(error),
      );
    },
  });
  // Either side's end is the other's; who sends it hears of errors.
  return pipeline(body, watching, () => {});

  async function pass(chunk: Buffer): Promise<void> {
    const said = reader.add(chunk);
    if (said.ids.length > 0 || said.isKept) await judge(said);
  }
}

class PassingIds {
  /** By where they stand. */
  readonly #names: ReadonlyMap<string, NamedObject>;
  readonly #places: readonly string[];
  readonly #signs: Signs;
  readonly #texts: PassingTexts;
  readonly #seen = new NamedIds();

  constructor({
    names = [],
    stored = '',
  }: Looked | { names?: readonly NamedObject[]; stored?: string }) {
    this.#names = new Map(
      names.filter(({ at }) => at.startsWith('body.')).map((name) => [name.at, name]),
    );
    this.#signs = signsOf[stored] ?? noSigns;
    const { texts, truths } = this.#signs;
    const places = [...new Set([...this.#names.keys(), ...Object.keys(texts)])];
    this.#places = [...places, ...truths];
    const steps = (at: string) => at.split('.').slice(1);
    this.#texts = new PassingTexts(places.map(steps), textBytesMax, truths.map(steps));
  }

  /** @throws GatewayError for too many ids, and for what is no JSON */
  add(chunk: Buffer): Said {
    const before = this.#seen.ids.length;
    let isKept = false;
    for (const { path, text } of this.#texts.add(chunk)) {
      const at = this.#places[path] as string;
      const name = this.#names.get(at);
      // One that is too long to be told is too long; addresses may have their content in them.
      if (name !== undefined) this.#seen.add(name, text ?? ' '.repeat(idLengthMax + 1));
      isKept ||=
        this.#signs.truths.includes(at) || this.#signs.texts[at]?.test(text ?? '') === true;
    }
    if (this.#texts.isBroken)
      throw new GatewayError('request.malformed_json', {
        field: 'body',
        message: 'The body is not JSON, and may name what other workspaces keep at the provider.',
      });
    return { ids: this.#seen.ids.slice(before), isKept };
  }
}
