/** Bedrock's exceptions, by the status of each: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModel.html, November 2026 */
const exceptions: ReadonlyMap<number, string> = new Map([
  [401, 'AccessDeniedException'],
  [402, 'ServiceQuotaExceededException'],
  [403, 'AccessDeniedException'],
  [404, 'ResourceNotFoundException'],
  [408, 'ModelTimeoutException'],
  [409, 'ConflictException'],
  // What is spent is not there again in a moment: clients wait and ask again where they are throttled.
  [412, 'ServiceQuotaExceededException'],
  [424, 'ModelErrorException'],
  [429, 'ThrottlingException'],
  [503, 'ServiceUnavailableException'],
  [504, 'ModelTimeoutException'],
]);

export function awsExceptionOf(status: number): string {
  return (
    exceptions.get(status) ?? (status >= 500 ? 'InternalServerException' : 'ValidationException')
  );
}
