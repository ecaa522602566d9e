import { describe, expect, it } from 'vitest';
import { eventFrame, frame } from '../../../test/aws-frames.ts';
import { contextFor, everywhere, fixtures, play } from '../../../test/fixtures.ts';
import { baseUrlOf, pathOf } from '../../address.ts';
import { authHeaders } from '../../auth-headers.ts';
import { findProvider } from '../../catalog.ts';
import { findTranslation } from '../../translation/find-translation.ts';

const sagemaker = findProvider('sagemaker')!;
const chat = findTranslation(sagemaker, 'chatComplete');

describe('sagemaker', () => {
  it('sends the headers callers know under our prefix under SageMaker’s own', () => {
    const headers = authHeaders(
      sagemaker,
      { apiKey: '', configurations: { amzn_sagemaker_target_variant: 'blue' } },
      {
        'x-service-amzn-sagemaker-inference-component': 'part-1',
        'x-service-amzn-sagemaker-target-variant': 'green',
        'x-service-amzn-sagemaker-unknown': 'x',
        'amzn-sagemaker-session-id': 'bare',
      },
    );
    expect(headers).toEqual({
      'x-amzn-sagemaker-inference-component': 'part-1',
      'x-amzn-sagemaker-target-variant': 'blue',
    });
  });

  it('passes any path to the runtime of the region', () => {
    const facts = { model: '', stream: false, setting: () => 'eu-west-1' };
    expect(baseUrlOf(sagemaker, undefined, facts)).toBe(
      'https://runtime.sagemaker.eu-west-1.amazonaws.com',
    );
    expect(findTranslation(sagemaker, 'proxy').upstreamFormat).toBe('raw');
  });

  it('invokes the endpoint that the model names', () => {
    const facts = { model: 'my/endpoint', setting: () => undefined };
    expect(pathOf(chat.entry, { ...facts, stream: false })).toBe(
      '/endpoints/my%2Fendpoint/invocations',
    );
    expect(pathOf(chat.entry, { ...facts, stream: true })).toBe(
      '/endpoints/my%2Fendpoint/invocations-response-stream',
    );
  });

  for (const fixture of fixtures('openai-chat', 'stream'))
    it(`reads ${fixture.name} out of parts that are cut anywhere`, () => {
      const parts: Buffer[] = [];
      for (let start = 0; start < fixture.bytes.length; start += 37)
        parts.push(eventFrame('PayloadPart', fixture.bytes.subarray(start, start + 37)));
      const frames = Buffer.concat(parts);
      const open = () => chat.openStream(contextFor(sagemaker), {});
      const direct = play(
        findTranslation(findProvider('openai')!, 'chatComplete').openStream(
          contextFor(sagemaker),
          {},
        ),
        fixture.bytes,
        [],
      );
      for (const cuts of [[], everywhere(frames)]) {
        const read = play(open(), frames, cuts);
        expect(read.bytes.equals(fixture.bytes)).toBe(true);
        expect([read.facts, read.phases.at(-1)]).toEqual([direct.facts, direct.phases.at(-1)]);
      }
    });

  it('tells an exception of the container as an error of the stream', () => {
    const headers = { ':message-type': 'exception', ':exception-type': 'ModelStreamError' };
    const reader = chat.openStream(contextFor(sagemaker), {});
    const out = reader.push(frame(headers, '{"Message":"out of memory"}'));
    expect(out.toString()).toContain('"message":"out of memory"');
    expect(reader.fault).toEqual({
      type: 'ModelStreamError',
      message: 'out of memory',
      status: 502,
    });
    expect([reader.phase, reader.faultForwarded]).toEqual(['failed', true]);
  });
});
