const refused = (status: number, text: string, type = 'invalid_request_error') =>
  ({ status, retry: 'never', text, type }) as const;

/** Errors of files and batches that the service itself keeps for callers. */
export const storedCodes = {
  'auth.job_token': refused(401, 'The token of this batch does not hold.', 'authentication_error'),
  'file.not_found': refused(404, 'There is no such file.', 'not_found_error'),
  'file.too_large': refused(413, 'The file is larger than files may be here.'),
  'file.too_many': refused(400, 'The workspace has as many files as it may: delete some first.'),
  'file.no_store': refused(
    400,
    'Files need a store, and none is set here (LOG_STORE of the data service).',
  ),
  'file.unavailable': refused(503, 'Files cannot be reached at the moment.', 'api_error'),
  'file.damaged': refused(500, 'The content of the file is not what was kept.', 'api_error'),
  'batch.not_found': refused(404, 'There is no such batch.', 'not_found_error'),
  'batch.needs_key': refused(
    400,
    'A batch outlives a token: make it with a key of the workspace, in whose name its lines run.',
  ),
  'batch.too_many': refused(400, 'The workspace has as many batches under way as it may.'),
  'batch.not_finished': refused(409, 'The batch has no output yet.', 'conflict_error'),
  'batch.finished': refused(409, 'The batch has ended and cannot be cancelled.', 'conflict_error'),
} as const;
