import { type ErrorForm, errorBodies } from '@sluice/contracts/admin';
import { describe, expect, it } from 'vitest';
import { adminErrorBody, errorBodies as shapes } from './bodies.ts';
import { GatewayError } from './gateway-error.ts';

describe('adminErrorBody', () => {
  const errors = [
    new GatewayError('admin.validation', { field: 'body.name', faults: ['body.name: is empty'] }),
    new GatewayError('auth.missing_key'),
    new GatewayError('internal'),
  ];

  it.each(Object.keys(errorBodies) as ErrorForm[])('has the published shape: %s', (form) => {
    for (const error of errors) {
      const body = adminErrorBody(error, 'a-request', form);
      expect(errorBodies[form].parse(body)).toEqual(body);
    }
  });

  it('tells both kinds of client the same', () => {
    const body = adminErrorBody(new GatewayError('admin.not_found'), 'a-request', 'with-error');
    expect(body).toMatchObject({
      data: { message: 'Not found.', errorCode: 'AB08' },
      error: { message: 'Not found.', type: 'not_found_error', param: null },
    });
  });

  it('says of virtual keys that a request is not authorised, and no more', () => {
    const of = (error: GatewayError) => adminErrorBody(error, 'a-request', 'virtual-key').data;
    expect(of(new GatewayError('auth.expired_key'))).toMatchObject({
      message: 'Unauthorised Request',
    });
    expect(of(new GatewayError('admin.not_found'))).toMatchObject({ message: 'Not found.' });
  });
});

describe('the body of a refusal in Anthropic’s words', () => {
  it('names what clients act on, and nothing else', () => {
    const of = (code: 'request.thread_not_found' | 'request.invalid_field') =>
      shapes.anthropic(new GatewayError(code), 'a-request').error;
    expect(of('request.thread_not_found')).toMatchObject({
      type: 'not_found_error',
      details: { error_code: 'thread_not_found' },
    });
    expect(of('request.invalid_field')).not.toHaveProperty('details');
  });

  it.each([
    [{ status: 503, type: 'UNAVAILABLE' }, 'overloaded_error'],
    [{ status: 429, type: 'throttlingException' }, 'rate_limit_error'],
    [{ status: 401, type: 'invalid_request_error' }, 'authentication_error'],
    [{ status: 408, type: 'X' }, 'timeout_error'],
    [{ status: 409, type: 'ABORTED' }, 'conflict_error'],
    [{}, 'api_error'],
  ])('tells what a provider did by a word of Anthropic’s: %j', (options, type) => {
    const error = new GatewayError('upstream.error', options);
    expect(shapes.anthropic(error, 'a-request').error).toMatchObject({
      type,
      code: 'upstream.error',
    });
  });

  it('keeps our own words for what we refuse', () => {
    const of = (code: 'guardrail.denied' | 'upstream.timeout') =>
      shapes.anthropic(new GatewayError(code), 'a-request').error;
    expect(of('guardrail.denied')).toMatchObject({ type: 'hooks_failed' });
    expect(of('upstream.timeout')).toMatchObject({ type: 'timeout_error' });
  });
});
