// Wire format: https://platform.openai.com/docs/api-reference/embeddings
import { tokensIn } from './answer-text.ts';
import { invalidType, missing, optionalNumber } from './openai-vendor.ts';
import { type DemoAnswer, type DemoBody, VendorFault } from './protocol.ts';

const dimensionsDefault = 1536;
const dimensionsMax = 3072;
const inputsMax = 2048;

export function createEmbeddings(body: DemoBody): DemoAnswer {
  const inputs = checkInput(body.input);
  const dimensions =
    optionalNumber(body.dimensions, 'dimensions', 1, dimensionsMax) ?? dimensionsDefault;
  const format = body.encoding_format ?? 'float';
  if (format !== 'float' && format !== 'base64')
    throw new VendorFault(
      400,
      `Invalid value: '${String(format)}'. Supported values are: 'float' and 'base64'.`,
      {
        param: 'encoding_format',
        code: 'invalid_value',
      },
    );
  const tokens = inputs.reduce((sum, input) => sum + tokensIn(input), 0);
  const data = inputs.map((input, index) => {
    const vector = embed(input, dimensions);
    const embedding =
      format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : Array.from(vector);
    return { object: 'embedding', index, embedding };
  });
  return {
    kind: 'json',
    body: {
      object: 'list',
      data,
      model: body.model,
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    },
  };
}

function checkInput(input: unknown): string[] {
  if (input === undefined) throw missing('input');
  const inputs =
    Array.isArray(input) && !input.every((item) => typeof item === 'number') ? input : [input];
  if (inputs.length > inputsMax)
    throw new VendorFault(
      400,
      `Invalid 'input': array too long. Expected an array with maximum length ${inputsMax}.`,
      { param: 'input' },
    );
  return inputs.map((item: unknown) => {
    // Token ids are an input too; what they stand for does not matter here.
    if (Array.isArray(item)) return item.join(' ');
    if (typeof item !== 'string') throw invalidType('input', 'a string', item);
    if (item === '')
      throw new VendorFault(400, "'$.input' is invalid. Please check the API reference.");
    return item;
  });
}

/** A unit vector from a small generator seeded by the text, so that equal texts have equal vectors. */
function embed(text: string, dimensions: number): Float32Array {
  let state = 2_166_136_261;
  for (let index = 0; index < text.length; index += 1)
    state = Math.imul(state ^ text.charCodeAt(index), 16_777_619);
  const vector = new Float32Array(dimensions);
  let squares = 0;
  for (let index = 0; index < dimensions; index += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    const value = state / 2_147_483_648;
    vector[index] = value;
    squares += value * value;
  }
  const scale = 1 / Math.sqrt(squares || 1);
  for (let index = 0; index < dimensions; index += 1)
    vector[index] = (vector[index] as number) * scale;
  return vector;
}
