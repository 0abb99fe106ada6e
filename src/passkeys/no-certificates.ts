/*
 * Stands in for the packages that read certificates, in the bundle: see [alias] in wrangler.toml. Nothing reaches it, because an
 * attestation with a certificate is refused before the library of passkeys looks at it.
 */
class NoCertificates {
  constructor() {
    throw new Error('This Worker reads no certificates.')
  }
}
/** In place of the identifier of an algorithm, a key or an extension: no certificate has it. */
const NONE = 'none'

export {
  NONE as id_ce_keyDescription,
  NONE as id_rsaEncryption,
  NONE as id_sha1WithRSAEncryption,
  NONE as id_sha256WithRSAEncryption,
  NONE as id_sha384WithRSAEncryption,
  NONE as id_sha512WithRSAEncryption,
  NoCertificates as AuthorityKeyIdentifierExtension,
  NoCertificates as CRLDistributionPointsExtension,
  NoCertificates as SubjectKeyIdentifierExtension,
  NoCertificates as X509Certificate,
  NoCertificates as X509ChainBuilder,
  NoCertificates as X509Crl,
  NoCertificates as KeyDescription,
  NoCertificates as RSAPublicKey,
}
