import { describe, expect, it } from 'vitest';
import { contextFor } from '../../test/fixtures.ts';
import { findProvider } from '../catalog.ts';
import { findTranslation } from '../translation/find-translation.ts';
import { factsOfModel } from './facts-of-model.ts';
import { readModelOverrides } from './read-model-overrides.ts';
import { shownFacts } from './shown-facts.ts';

const file = (...models: object[]) => JSON.stringify({ models });

describe('an operator’s rows', () => {
  const overrides = readModelOverrides(
    file(
      { match: 'prod-writer', like: 'claude-opus-4-7' },
      {
        match: 'claude-opus-4-6*',
        facts: { sampling: 'default', thinking: { types: ['adaptive'], default: 'adaptive' } },
      },
      { match: 'arn:aws:bedrock:*', like: 'anthropic.claude-sonnet-4-5-v1:0' },
    ),
  );

  it('say what a deployment is, and what a model takes', () => {
    expect(factsOfModel('prod-writer', overrides)?.model).toBe('claude-opus-4-7');
    expect(factsOfModel('claude-opus-4-6-v1', overrides)).toMatchObject({
      model: 'claude-opus-4-6',
      sampling: 'default',
      efforts: ['low', 'medium', 'high', 'max'],
    });
    expect(factsOfModel('claude-opus-4-5', overrides)?.sampling).toBe('one');
  });

  it('decide what is asked of the model', () => {
    const modelOverrides = overrides;
    const ask = (id: string, model: string) => {
      const provider = findProvider(id)!;
      const context = { ...contextFor(provider, true, { model }), modelOverrides };
      const body = { model, messages: [], temperature: 0.5, reasoning_effort: 'high' };
      return findTranslation(provider, 'chatComplete', context).encode(body, context);
    };
    expect(ask('anthropic', 'prod-writer')).toMatchObject({
      body: { thinking: { type: 'adaptive' } },
      dropped: ['temperature'],
    });
    const profile = 'arn:aws:bedrock:us-east-1:1:application-inference-profile/x';
    expect(ask('bedrock', profile).body?.additionalModelRequestFields).toMatchObject({
      thinking: { type: 'enabled' },
    });
  });

  it('are written in the words that lists of models show', () => {
    const facts = factsOfModel('claude-sonnet-5-5')!;
    const { model: _, source: __, checked: ___, ...shown } = shownFacts(facts);
    const again = readModelOverrides(file({ match: 'x', like: 'claude-2', facts: shown }));
    const { model, source, checked } = factsOfModel('claude-2')!;
    expect(factsOfModel('x', again)).toEqual({ ...facts, model, source, checked });
  });

  it.each([
    ['{', 'the file is not JSON'],
    ['[]', 'the file must hold an object'],
    ['{"models":{}}', 'models must be a list'],
    ['{"rows":[]}', 'rows is not known'],
    [file({}), 'models[0].match must be a text'],
    [file({ match: 'x', as: 'y' }), 'models[0].as is not known'],
    [file({ match: 'x', like: 4 }), 'models[0].like must be a text'],
    [
      file({ match: 'x' }, { match: 'y', facts: { colour: 'red' } }),
      'models[1].facts.colour is not known',
    ],
    [
      file({ match: 'x', facts: { sampling: 'some' } }),
      'models[0].facts.sampling must be one of all, one, unless-reasoning, default',
    ],
    [
      file({ match: 'x', facts: { prefill: 'no' } }),
      'models[0].facts.prefill must be true or false',
    ],
    [
      file({ match: 'x', facts: { efforts: ['low', 4] } }),
      'models[0].facts.efforts[1] must be a text',
    ],
    [
      file({ match: 'x', facts: { thinking: { default: 'on' } } }),
      'models[0].facts.thinking.default must be one of',
    ],
    [
      file({ match: 'x', facts: { output_tokens_max: -1 } }),
      'models[0].facts.output_tokens_max must be a count',
    ],
  ])('are refused with place and reason: %s', (source, message) => {
    expect(() => readModelOverrides(source)).toThrow(message);
  });
});
