import { expect, it } from 'vitest';
import { type ReceivedRequest, signatureFault } from './s3-signature.ts';

const credentials = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
};
const at = Date.UTC(2013, 4, 24);
const emptySha = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

function signed(signedHeaders: string, signature: string) {
  return `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=${signedHeaders},Signature=${signature}`;
}

const common = {
  host: 'examplebucket.s3.amazonaws.com',
  'x-amz-content-sha256': emptySha,
  'x-amz-date': '20130524T000000Z',
};
const getOfRange: ReceivedRequest = {
  method: 'GET',
  target: '/test.txt',
  headers: {
    ...common,
    range: 'bytes=0-9',
    authorization: signed(
      'host;range;x-amz-content-sha256;x-amz-date',
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    ),
  },
  body: Buffer.alloc(0),
};

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
it.each<[string, ReceivedRequest]>([
  ['GET of a range', getOfRange],
  [
    'PUT',
    {
      method: 'PUT',
      target: '/test%24file.text',
      headers: {
        ...common,
        date: 'Fri, 24 May 2013 00:00:00 GMT',
        'x-amz-storage-class': 'REDUCED_REDUNDANCY',
        'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
        authorization: signed(
          'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
          '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
        ),
      },
      body: Buffer.from('Welcome to Amazon S3.'),
    },
  ],
  [
    'a list',
    {
      method: 'GET',
      target: '/?max-keys=2&prefix=J',
      headers: {
        ...common,
        authorization: signed(
          'host;x-amz-content-sha256;x-amz-date',
          '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
        ),
      },
      body: Buffer.alloc(0),
    },
  ],
])('takes AWS’s published example: %s', (_name, request) => {
  expect(signatureFault(request, credentials, at)).toBeUndefined();
});

it.each<[string, Partial<ReceivedRequest>, string]>([
  ['another path', { target: '/other.txt' }, 'SignatureDoesNotMatch'],
  ['another method', { method: 'DELETE' }, 'SignatureDoesNotMatch'],
  ['another body', { body: Buffer.from('x') }, 'XAmzContentSHA256Mismatch'],
  [
    'a header of AWS that is not signed',
    { headers: { ...getOfRange.headers, 'x-amz-acl': 'public-read' } },
    'AccessDenied',
  ],
  ['no signature', { headers: common }, 'AccessDenied'],
])('refuses %s', (_name, over, code) => {
  expect(signatureFault({ ...getOfRange, ...over }, credentials, at)).toBe(code);
});

it('refuses one that is old, or of another key', () => {
  expect(signatureFault(getOfRange, credentials, at + 16 * 60_000)).toBe('RequestTimeTooSkewed');
  const other = { ...credentials, accessKeyId: 'OTHER' };
  expect(signatureFault(getOfRange, other, at)).toBe('InvalidAccessKeyId');
});
