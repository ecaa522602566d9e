/** How many characters of a value of metadata that requests and tokens say are kept. */
export const metadataValueMax = 128;

/** Why what asks for a longer value meets nothing. */
export const longMetadataWhy = `what requests and tokens say in metadata is cut at ${metadataValueMax} characters; metadata of keys and workspaces alone may be longer`;
