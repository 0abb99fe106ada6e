import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { isSecret, newSecret } from '../../src/api-keys/secret'

describe('the secret of a key', () => {
  it('has the specified shape, a checksum that zlib agrees with, and a display prefix', async () => {
    const { secret, key_prefix } = await newSecret(0)
    expect(secret).toMatch(/^svc_v1_[0-9a-f]{96}$/)
    expect(secret.slice(-8)).toBe(crc32(secret.slice(0, -8)).toString(16).padStart(8, '0'))
    expect(key_prefix).toBe(`${secret.slice(0, 11)}…${secret.slice(-4)}`)
    expect(isSecret(secret)).toBe(true)
  })

  it('is refused after any change of a character, of case or of length', async () => {
    const { secret } = await newSecret(0)
    for (let i = 0; i < secret.length; i++) {
      const other = secret[i] === '0' ? '1' : '0'
      expect(isSecret(secret.slice(0, i) + other + secret.slice(i + 1))).toBe(false)
    }
    for (const bad of [secret.toUpperCase(), secret.slice(0, -1), `${secret}0`, ` ${secret}`, `${secret}\n`]) {
      expect(isSecret(bad)).toBe(false)
    }
  })
})
