import { expect, it } from 'vitest';
import { presignUrl } from './presign-url.ts';

// https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
it('signs an address as AWS’s published example', async () => {
  const url = await presignUrl(
    'https://examplebucket.s3.amazonaws.com',
    '/test.txt',
    {
      service: 's3',
      region: 'us-east-1',
      credentials: {
        accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
        secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      },
      atMs: Date.UTC(2013, 4, 24),
    },
    86_400,
  );
  expect(new URL(url).searchParams.get('X-Amz-Signature')).toBe(
    'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
  );
});
