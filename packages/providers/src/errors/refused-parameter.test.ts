import { describe, expect, it } from 'vitest';
import { withoutRefusedParameter } from './refused-parameter.ts';

const error = (message: string, param?: string) =>
  Buffer.from(JSON.stringify({ error: { message, ...(param !== undefined && { param }) } }));

describe('a refusal that names a parameter', () => {
  const sent = {
    model: 'm',
    messages: [],
    temperature: 0.2,
    top_p: 1,
    output_config: { effort: 'max' },
    thinking: { type: 'adaptive', display: 'omitted' },
    inferenceConfig: { temperature: 1 },
  };

  it.each([
    ["Unsupported parameter: 'temperature' is not supported with this model.", 'temperature'],
    ['`temperature` may only be set to its default value.', 'temperature'],
    ['anthropic error: top_p: Extra inputs are not permitted', 'top_p'],
    ['output_config.effort: not supported', 'output_config.effort'],
    ["bedrock error: 'display' is not known", 'thinking.display'],
  ])('gives the request without it: %s', (message, name) => {
    const found = withoutRefusedParameter({ ...sent, inferenceConfig: {} }, error(message));
    expect(found?.name).toBe(name);
    expect(JSON.stringify(found?.body)).not.toContain(`"${name.split('.').at(-1)}"`);
  });

  it('leaves nothing empty behind, and everything else as it was', () => {
    const { output_config: _, ...rest } = sent;
    const found = withoutRefusedParameter(sent, error('output_config.effort: no'));
    expect(found?.body).toEqual(rest);
  });

  it('believes the error’s own word for it', () => {
    expect(withoutRefusedParameter(sent, error('No.', 'top_p'))?.name).toBe('top_p');
  });

  it.each([
    'The temperature of the model is too high for its age.',
    'messages: at least one message is required',
    "'model' is not known",
    "'seed' is not supported",
    '',
  ])('is none where nothing is named that can be left out: %s', (message) => {
    expect(withoutRefusedParameter(sent, error(message))).toBeUndefined();
  });

  it('is none where the refusal is no JSON', () => {
    expect(withoutRefusedParameter(sent, Buffer.from('<html>'))).toBeUndefined();
  });
});
