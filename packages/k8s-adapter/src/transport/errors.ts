// Errors of connections in words.
const untrusted = 'signed by an authority that is not trusted: check certificate-authority';

/** In plain words what Node says in those of its libraries, by the code of the error. */
const texts: Readonly<Record<string, string>> = {
  ECONNRESET: 'the connection was cut off',
  ERR_SSL_WRONG_VERSION_NUMBER: 'what answers there does not speak TLS',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'what answers there does not speak TLS',
  DEPTH_ZERO_SELF_SIGNED_CERT: `its certificate is ${untrusted}`,
  SELF_SIGNED_CERT_IN_CHAIN: `its certificate is ${untrusted}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `its certificate is ${untrusted}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `its certificate is ${untrusted}`,
  CERT_HAS_EXPIRED: 'its certificate has expired',
};

/** The words of an error; those of its parts where it has none (a host with several addresses). */
export function describeError(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return error.errors.map(describeError).join('; ');
  }
  if (!(error instanceof Error)) return String(error);
  const text = 'code' in error ? texts[String(error.code)] : undefined;
  return text ?? (error.message.trim() || error.name);
}

/** Some servers say that an answer is to come, once or every few seconds; without a bound that is work without end. */
export const announcementsMax = 100;
export const announcedTooOften: string = `the answer is announced more than ${announcementsMax} times`;
