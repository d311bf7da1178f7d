/** Words that make a name secret wherever they stand in it, as in `password_confirmation`. */
const anywhere = /password|passwd|passphrase|passcode|secret|credential|apikey|privatekey|accesskey|seedphrase|mnemonic/
/** Words that make it secret at its end only: `accessToken` is one, `tokenCount` is none. */
const atEnd =
  /(?:pwd|token|authorization|auth|cookies?|jwt|otp|(?:signing|encryption|account|auth|master|service|shared|ssh|hmac|license)key|sessionid|bearer|connectionstring|dsn)$/

/** Whether a field of this name holds a secret, however the words of the name are joined. */
export function isSecretName(name: string): boolean {
  const plain = name
    .slice(0, 256)
    .toLowerCase()
    .replace(/[^a-z]/g, '')
  return anywhere.test(plain) || atEnd.test(plain)
}
