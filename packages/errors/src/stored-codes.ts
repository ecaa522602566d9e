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
  'response.not_found': refused(404, 'There is no such response.', 'not_found_error'),
  'response.too_many': refused(
    400,
    'The workspace has as many responses and conversations as it may: delete some first.',
  ),
  'response.too_large': refused(
    413,
    'The response is larger than responses may be that are kept here.',
  ),
  'response.unavailable': refused(
    503,
    'Responses and conversations that are kept here cannot be reached at the moment.',
    'api_error',
  ),
  'response.not_in_background': refused(
    400,
    'Only a response that is made in the background can be cancelled or streamed again.',
  ),
  'response.needs_key': refused(
    400,
    'A response in the background outlives a token: ask for it with a key of the workspace.',
  ),
  'response.too_many_in_background': refused(
    400,
    'The workspace has as many responses under way in the background as it may.',
  ),
  'response.not_finished': refused(409, 'The response is being made.', 'conflict_error'),
  'conversation.not_found': refused(404, 'There is no such conversation.', 'not_found_error'),
  'conversation.changed': refused(
    409,
    'The conversation was changed by somebody else meanwhile.',
    'conflict_error',
  ),
  'conversation.item_not_found': refused(
    404,
    'The conversation has no such item.',
    'not_found_error',
  ),
  'upload.not_found': refused(404, 'There is no such upload.', 'not_found_error'),
  'upload.not_pending': refused(
    409,
    'The upload takes no more: it was completed or cancelled, has expired, or is being completed.',
    'conflict_error',
  ),
  'upload.parts_invalid': refused(400, 'The parts do not make the file that was announced.'),
  'batch.not_found': refused(404, 'There is no such batch.', 'not_found_error'),
  'batch.needs_key': refused(
    400,
    'A batch outlives a token: make it with a key of the workspace, in whose name its lines run.',
  ),
  'batch.too_many': refused(400, 'The workspace has as many batches under way as it may.'),
  'batch.not_finished': refused(409, 'The batch has no output yet.', 'conflict_error'),
  'batch.finished': refused(409, 'The batch has ended and cannot be cancelled.', 'conflict_error'),
} as const;
