import { pipeline, type Readable, Transform } from 'node:stream';
import type { NamedObject, ObjectFacts } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { PassingTexts } from '@sluice/json';
import type { NamedObjects } from '../exchange/named-objects.ts';
import { idLengthMax, NamedIds } from './ids-in-request.ts';

type Ids = NamedObjects['ids'];

/** Six bytes an escaped character. */
const textBytesMax = 6 * idLengthMax;

/** Whether a body may say what its request is about, of what stays at the provider. */
export function namesInBody(facts: ObjectFacts | undefined): boolean {
  return facts?.names?.some(({ at }) => at.startsWith('body.')) === true;
}

/** All that a body names which was read and could not be parsed. @throws GatewayError as for one that passes */
export function idsInBytes(body: Buffer, names: readonly NamedObject[]): Ids {
  return new PassingIds(names).add(body);
}

/**
 * A body that nobody has read, as the provider gets it: each piece is passed on
 * when all that it names may be named. `judge` throws for what may not; the
 * provider then never has the whole of the body.
 * @param names of which those in the body are looked for
 */
export function watchedBody(
  body: Readable,
  names: readonly NamedObject[],
  judge: (ids: Ids) => void | Promise<void>,
): Readable {
  const reader = new PassingIds(names);
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
    const ids = reader.add(chunk);
    if (ids.length > 0) await judge(ids);
  }
}

class PassingIds {
  readonly #names: readonly NamedObject[];
  readonly #texts: PassingTexts;
  readonly #seen = new NamedIds();

  constructor(names: readonly NamedObject[]) {
    this.#names = names.filter(({ at }) => at.startsWith('body.'));
    const paths = this.#names.map(({ at }) => at.split('.').slice(1));
    this.#texts = new PassingTexts(paths, textBytesMax);
  }

  /** Those that no earlier piece named. @throws GatewayError for too many, and for what is no JSON */
  add(chunk: Buffer): Ids {
    const before = this.#seen.ids.length;
    for (const { path, text } of this.#texts.add(chunk)) {
      const name = this.#names[path] as NamedObject;
      // One that is too long to be told is too long; addresses may have their content in them.
      this.#seen.add(name, text ?? ' '.repeat(idLengthMax + 1));
    }
    if (this.#texts.isBroken)
      throw new GatewayError('request.malformed_json', {
        field: 'body',
        message: 'The body is not JSON, and may name what other workspaces keep at the provider.',
      });
    return this.#seen.ids.slice(before);
  }
}
