/*
 * Stands in for @peculiar/x509 in the bundle: see [alias] in wrangler.toml. Nothing reaches it, because an attestation with a
 * certificate is refused before the library of passkeys looks at it.
 */
class NoCertificates {
  constructor() {
    throw new Error('This Worker reads no certificates.')
  }
}

export {
  NoCertificates as AuthorityKeyIdentifierExtension,
  NoCertificates as CRLDistributionPointsExtension,
  NoCertificates as SubjectKeyIdentifierExtension,
  NoCertificates as X509Certificate,
  NoCertificates as X509ChainBuilder,
  NoCertificates as X509Crl,
}
