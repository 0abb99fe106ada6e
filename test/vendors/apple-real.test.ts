import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { hex, sha256Hex } from '../../src/lib/crypto'
import { apple } from '../../src/vendors/apple'
import { payloadOf, subjectOfNotification } from '../../src/vendors/apple-jws'
import { isIssuedBy, readCertificate } from '../../src/vendors/lib/certificates'
import { utf8 } from './harness'

/* Certificates that Apple publishes (https://www.apple.com/certificateauthority/), and a delivery of your own, if there is one. */

/** Apple Root CA - G3. */
const ROOT =
  'MIICQzCCAcmgAwIBAgIILcX8iNLFS5UwCgYIKoZIzj0EAwMwZzEbMBkGA1UEAwwSQXBwbGUgUm9vdCBDQSAtIEczMSYwJAYDVQQLDB1BcHBsZS' +
  'BDZXJ0aWZpY2F0aW9uIEF1dGhvcml0eTETMBEGA1UECgwKQXBwbGUgSW5jLjELMAkGA1UEBhMCVVMwHhcNMTQwNDMwMTgxOTA2WhcNMzkwNDMw' +
  'MTgxOTA2WjBnMRswGQYDVQQDDBJBcHBsZSBSb290IENBIC0gRzMxJjAkBgNVBAsMHUFwcGxlIENlcnRpZmljYXRpb24gQXV0aG9yaXR5MRMwEQ' +
  'YDVQQKDApBcHBsZSBJbmMuMQswCQYDVQQGEwJVUzB2MBAGByqGSM49AgEGBSuBBAAiA2IABJjpLz1AcqTtkyJygRMc3RCV8cWjTnHcFBbZDuWm' +
  'BSp3ZHtfTjjTuxxEtX/1H7YyYl3J6YRbTzBPEVoA/VhYDKX1DyxNB0cTddqXl5dvMVztK517IDvYuVTZXpmkOlEKMaNCMEAwHQYDVR0OBBYEFL' +
  'uw3qFYM4iapIqZ3r6966/ayySrMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgEGMAoGCCqGSM49BAMDA2gAMGUCMQCD6cHEFl4aXTQY' +
  '2e3v9GwOAEZLuN+yRhHFD/3meoyhpmvOwgPUnPWTxnS4at+qIxUCMG1mihDK1A3UT82NQz60imOlM27jbdoXt2QfyFMm+YhidDkLF1vLUagM6B' +
  'gD56KyKA=='
/** Worldwide Developer Relations, G6. */
const G6 =
  'MIIDFjCCApygAwIBAgIUIsGhRwp0c2nvU4YSycafPTjzbNcwCgYIKoZIzj0EAwMwZzEbMBkGA1UEAwwSQXBwbGUgUm9vdCBDQSAtIEczMSYwJA' +
  'YDVQQLDB1BcHBsZSBDZXJ0aWZpY2F0aW9uIEF1dGhvcml0eTETMBEGA1UECgwKQXBwbGUgSW5jLjELMAkGA1UEBhMCVVMwHhcNMjEwMzE3MjAz' +
  'NzEwWhcNMzYwMzE5MDAwMDAwWjB1MUQwQgYDVQQDDDtBcHBsZSBXb3JsZHdpZGUgRGV2ZWxvcGVyIFJlbGF0aW9ucyBDZXJ0aWZpY2F0aW9uIE' +
  'F1dGhvcml0eTELMAkGA1UECwwCRzYxEzARBgNVBAoMCkFwcGxlIEluYy4xCzAJBgNVBAYTAlVTMHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEbsQK' +
  'C94PrlWmZXnXgtxzdVJL8T0SGYngDRGpngn3N6PT8JMEb7FDi4bBmPhCnZ3/sq6PF/cGcKXWsL5vOteRhyJ45x3ASP7cOB+aao90fcpxSv/EZF' +
  'bniAbNgZGhIhpIo4H6MIH3MBIGA1UdEwEB/wQIMAYBAf8CAQAwHwYDVR0jBBgwFoAUu7DeoVgziJqkipnevr3rr9rLJKswRgYIKwYBBQUHAQEE' +
  'OjA4MDYGCCsGAQUFBzABhipodHRwOi8vb2NzcC5hcHBsZS5jb20vb2NzcDAzLWFwcGxlcm9vdGNhZzMwNwYDVR0fBDAwLjAsoCqgKIYmaHR0cD' +
  'ovL2NybC5hcHBsZS5jb20vYXBwbGVyb290Y2FnMy5jcmwwHQYDVR0OBBYEFD8vlCNR01DJmig97bB85c+lkGKZMA4GA1UdDwEB/wQEAwIBBjAQ' +
  'BgoqhkiG92NkBgIBBAIFADAKBggqhkjOPQQDAwNoADBlAjBAXhSq5IyKogMCPtw490BaB677CaEGJXufQB/EqZGd6CSjiCtOnuMTbXVXmxxcxf' +
  'kCMQDTSPxarZXvNrkxU3TkUMI33yzvFVVRT4wxWJC994OsdcZ4+RGNsYDyR5gmdr0nDGg='

describe("Apple's own certificates", () => {
  const read = (text: string) => readCertificate(Uint8Array.fromBase64(text) as Uint8Array<ArrayBuffer>)

  it('are read, and the root issues the intermediate', async () => {
    const [root, intermediate] = [read(ROOT), read(G6)]
    expect(await sha256Hex(Uint8Array.fromBase64(ROOT) as Uint8Array<ArrayBuffer>)).toBe(
      '63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179',
    )
    expect([root, intermediate].map((one) => [one.curve, one.hash, one.isAuthority])).toEqual([
      ['P-384', 'SHA-384', true],
      ['P-384', 'SHA-384', true],
    ])
    expect(
      [root, intermediate].map(({ from, until }) => [from, until].map((at) => new Date(at).toISOString())),
    ).toEqual([
      ['2014-04-30T18:19:06.000Z', '2039-04-30T18:19:06.000Z'],
      ['2021-03-17T20:37:10.000Z', '2036-03-19T00:00:00.000Z'],
    ])
    expect([...intermediate.extensions.keys()]).toContain('2a864886f76364060201')
    expect(hex(intermediate.issuer)).toBe(hex(root.subject))
    expect(await isIssuedBy(intermediate, root)).toBe(true)
    expect(await isIssuedBy(root, root)).toBe(true)
    expect(await isIssuedBy(root, intermediate)).toBe(false)
    expect(await isIssuedBy({ ...intermediate, signed: root.signed }, root)).toBe(false)
  })
})

// APPLE_NOTIFICATION=file.json npx vitest run test/vendors/apple-real.test.ts
const { APPLE_NOTIFICATION: body } = env as unknown as { APPLE_NOTIFICATION: string }
describe.runIf(body)("a delivery of Apple's own", () => {
  const payload = payloadOf((body ? JSON.parse(body) : {}).signedPayload) ?? {}
  const { bundleId, appAppleId, environment } = subjectOfNotification(payload)
  const secret = environment === 'Production' ? `${bundleId}:${appAppleId}` : `${bundleId}`
  const verify = (text: string, now: number, secrets = [secret]) =>
    apple.verify({ headers: new Headers(), bytes: utf8(text), url: '', now }, secrets)
  const signedAt = Number(payload.signedDate)

  it('is accepted at its date, and refused once its certificates are over', async () => {
    expect(await verify(body, signedAt + 1000)).toEqual({ ok: true, secret: 0 })
    const later = Date.parse('2037-01-01')
    expect(await verify(body, later)).toEqual({ ok: false, cause: 'signature_timestamp', skew_ms: later - signedAt })
    console.log('now:', await verify(body, Date.now()))
  })

  it('is refused for another app, and with any character changed', async () => {
    const refused = { ok: false, cause: 'signature_mismatch' }
    expect(await verify(body, signedAt, [`${secret}x`])).toEqual(refused)
    for (let at = body.indexOf('.'); at < body.lastIndexOf('"'); at += 7) {
      const changed = body.slice(0, at) + (body[at] === 'A' ? 'B' : 'A') + body.slice(at + 1)
      expect((await verify(changed, signedAt)).ok).toBe(false)
    }
  })
})
