import { type ErrorForm, errorBodies } from '@sluice/contracts/admin';
import { describe, expect, it } from 'vitest';
import { adminErrorBody, denialBody, shapeHeaders, errorBodies as shapes } from './bodies.ts';
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

describe('the body of a refusal in Google’s words', () => {
  const of = (...given: ConstructorParameters<typeof GatewayError>) =>
    shapes.google(new GatewayError(...given), 'a-request');

  it('has nothing beside its error, which clients would take for it', () => {
    expect(of('auth.invalid_key')).toEqual({
      error: {
        code: 401,
        message: 'The service key is not valid.',
        status: 'UNAUTHENTICATED',
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
            reason: 'AUTH_INVALID_KEY',
            domain: 'gateway',
            metadata: { code: 'auth.invalid_key', request_id: 'a-request' },
          },
        ],
      },
    });
  });

  it('says when to come back, and which fields are at fault', () => {
    const limit = of('limit.rate_exceeded', { headers: { 'retry-after': '12' } });
    expect(limit.error).toMatchObject({
      code: 429,
      status: 'RESOURCE_EXHAUSTED',
      details: [{}, { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '12s' }],
    });
    const faulty = of('config.invalid', { faults: ['config.retry: is no object'] });
    expect(faulty.error).toMatchObject({
      status: 'INVALID_ARGUMENT',
      details: [
        {},
        {
          '@type': 'type.googleapis.com/google.rpc.BadRequest',
          fieldViolations: [{ field: 'config.retry', description: 'config.retry: is no object' }],
        },
      ],
    });
  });

  it.each([
    ['limit.budget_exhausted', 412, 'FAILED_PRECONDITION'],
    ['guardrail.denied', 446, 'FAILED_PRECONDITION'],
    ['upstream.timeout', 408, 'DEADLINE_EXCEEDED'],
    ['upstream.reset', 502, 'UNAVAILABLE'],
    ['internal', 500, 'INTERNAL'],
  ] as const)('tells %s as %d %s', (code, status, name) => {
    expect(of(code).error).toMatchObject({ code: status, status: name });
    expect(denialBody('google', new GatewayError(code), 'r').error).toMatchObject({ code: status });
  });
});

describe('the body of a refusal in Bedrock’s words', () => {
  it.each([
    ['auth.invalid_key', 'AccessDeniedException'],
    ['limit.rate_exceeded', 'ThrottlingException'],
    ['limit.budget_exhausted', 'ServiceQuotaExceededException'],
    ['guardrail.denied', 'ValidationException'],
    ['provider.unknown', 'ValidationException'],
    ['request.route_not_found', 'ResourceNotFoundException'],
    ['upstream.timeout', 'ModelTimeoutException'],
    ['upstream.reset', 'InternalServerException'],
  ] as const)('tells %s as %s, in the body and in the header', (code, exception) => {
    const error = new GatewayError(code);
    const body = shapes.bedrock(error, 'a-request');
    expect(body).toMatchObject({ __type: exception, message: error.message, error: { code } });
    expect(shapeHeaders('bedrock', error)['x-amzn-errortype']).toBe(exception);
    expect(shapeHeaders('openai', error)).toEqual({});
  });

  it.each([
    ['auth.invalid_key', 'false'],
    ['auth.missing_scope', 'false'],
    ['provider.model_not_allowed', 'false'],
    ['auth.expired_key', undefined],
    ['auth.invalid_token', undefined],
    ['limit.rate_exceeded', undefined],
  ] as const)('as in Anthropic’s says whether %s may be asked again', (code, told) => {
    for (const shape of ['bedrock', 'anthropic'] as const)
      expect(shapeHeaders(shape, new GatewayError(code))['x-should-retry']).toBe(told);
  });
});
