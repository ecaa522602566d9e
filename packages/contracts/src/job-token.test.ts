import { describe, expect, it } from 'vitest';
import { batchKeySecret, isJobToken, jobTokenLifeMs, jobTokenSeal } from './job-token.ts';
import { isWellFormedServiceKey } from './service-key.ts';

const statement = {
  batchId: '0190a0b0-0000-7000-8000-000000000000',
  endpoint: '/v1/chat/completions',
};

describe('a job token', () => {
  const seal = jobTokenSeal('a token');

  it('says what was signed, until it ends', () => {
    const token = seal.sign(statement, 1_000);
    expect(isJobToken(token)).toBe(true);
    expect(seal.read(token, 1_000 + jobTokenLifeMs - 1)).toEqual(statement);
    expect(seal.read(token, 1_000 + jobTokenLifeMs)).toBeUndefined();
  });

  it('says which look it is for, and is none of a batch then', () => {
    const look = {
      workId: '0190a0b0-0000-7000-8000-000000000001',
      apiKeyId: '0190a0b0-0000-7000-8000-000000000002',
      provider: '@openai',
      path: '/v1/responses/resp_1',
      traceId: 'a trace',
    };
    expect(seal.read(seal.sign(look, 0), 0)).toEqual(look);
  });

  it('is refused changed, signed by somebody else, and when it is none', () => {
    const token = seal.sign(statement, 0);
    const forged = Buffer.from('{"batch":"x","endpoint":"/v1/x","until":9e15}').toString(
      'base64url',
    );
    const [, mac] = token.split('.');
    for (const other of [
      `job:${forged}.${mac}`,
      `job:${forged}.`,
      `job:${forged}`,
      'job:',
      token.slice(4),
      jobTokenSeal('another').sign(statement, 0),
      `${token}${'.x'.repeat(4096)}`,
    ])
      expect(seal.read(other, 0)).toBeUndefined();
  });

  it('is read by who has the token of before or of after, while it is rotated', () => {
    const token = jobTokenSeal('old', ['new']).sign(statement, 0);
    expect(jobTokenSeal('new').read(token, 0)).toEqual(statement);
    expect(jobTokenSeal('old').read(token, 0)).toEqual(statement);
  });

  it('and what its batch is hashed as are no keys', () => {
    expect(isWellFormedServiceKey(seal.sign(statement, 0))).toBe(false);
    expect(isWellFormedServiceKey(batchKeySecret(statement.batchId))).toBe(false);
  });
});
