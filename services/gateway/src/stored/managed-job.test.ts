import { expect, it } from 'vitest';
import { managedJobId, readManagedJob } from './managed-job.ts';

it('says where a job is, and is read in one spelling alone', () => {
  const job = { slug: 'our-openai', id: 'ftjob-é:1/2' };
  const shown = managedJobId(job);
  expect(shown).toMatch(/^ftjob-svc_[\w-]+$/);
  expect(readManagedJob(shown)).toEqual(job);
  for (const other of [
    'ftjob-1',
    `${shown}=`,
    'ftjob-svc_',
    managedJobId({ slug: '../x', id: 'y' }),
    managedJobId({ slug: 'x', id: '..' }),
    managedJobId({ slug: 'x', id: 'a\nb' }),
    `ftjob-svc_${'a'.repeat(3000)}`,
  ])
    expect(readManagedJob(other), other.slice(0, 40)).toBeUndefined();
});
