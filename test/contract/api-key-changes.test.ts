import { describe, expect, it } from 'vitest'
import { call, freshKey, freshProject, mint } from '../harness'
import { answerOf, KEYS, rotate, SECRET, SPECIFIED_ROW } from './api'

describe('minting', () => {
  it('[mint.1] answers with the redacted row under key and the plaintext under secret, and no more', async () => {
    const { project, owner } = await freshProject()
    const answer = await call(KEYS, { method: 'POST', token: owner.token, project, json: { name: 'one' } })
    expect(answer.status).toBe(201)
    expect(Object.keys(answer.body)).toEqual(['key', 'secret'])
    expect(Object.keys(answer.body.key)).toEqual(expect.arrayContaining(SPECIFIED_ROW))
    expect(answer.body.key).not.toHaveProperty('secret')
    expect(answer.body.secret).toMatch(SECRET)
  })

  it('[mint.2] is done with the Bearer token of a console session, and the key works at once', async () => {
    const { project, owner } = await freshProject()
    const { secret } = await mint(owner.token, project)
    expect((await answerOf(KEYS, secret, project)).status).toBe(200)
    for (const token of [undefined, 'svc_cs_nobody']) {
      const refused = await call(KEYS, { method: 'POST', project, json: { name: 'x' }, ...(token && { token }) })
      expect(refused.status).toBe(401)
    }
  })

  it('[mint.3] is not done with an API key', async () => {
    const { project, secret, owner } = await freshKey()
    const answer = await call(KEYS, { method: 'POST', token: secret, project, json: { name: 'x' } })
    expect([answer.status, answer.body.code]).toEqual([403, 'console_session_required'])
    expect((await call(KEYS, { token: owner.token, project })).body.data).toHaveLength(1)
  })
})

describe('rotating', () => {
  it('[rotate.1] returns a fresh secret for the same key, which goes on working with it', async () => {
    const { project, owner, key, secret } = await freshKey()
    const answer = await rotate(owner.token, project, key.id)
    expect(answer.status).toBe(200)
    expect(answer.body.secret).toMatch(SECRET)
    expect(answer.body.secret).not.toBe(secret)
    const listed = await answerOf(KEYS, answer.body.secret, project)
    expect(listed.body.data.map((row) => row.id)).toEqual([key.id])
  })

  it('[rotate.2] makes the old secret a 401 on the very next request', async () => {
    const { project, owner, key, secret } = await freshKey()
    expect((await answerOf(KEYS, secret, project)).status).toBe(200)
    let old = secret
    for (let i = 0; i < 5; i++) {
      const rotated = await answerOf(`${KEYS}/${key.id}/rotate`, owner.token, project, 'POST')
      const refused = await answerOf(KEYS, old, project)
      expect([refused.status, refused.body.code]).toEqual([401, 'key_rotated'])
      old = rotated.body.secret
      expect((await answerOf(KEYS, old, project)).status).toBe(200)
    }
    expect((await answerOf(KEYS, secret, project)).body.code).toBe('key_rotated') // and stays one
  })

  it('[rotate.3] is of a key of the project: any other id is a 404 and changes nothing', async () => {
    const mine = await freshKey()
    const theirs = await freshKey()
    for (const id of [theirs.key.id, 'key_00000000000000000000000000', 'x']) {
      const answer = await call(`${KEYS}/${id}/rotate`, { method: 'POST', token: mine.secret, project: mine.project })
      expect([answer.status, answer.body.code]).toEqual([404, 'not_found'])
    }
    expect((await answerOf(KEYS, theirs.secret, theirs.project)).status).toBe(200)
  })
})

describe('revoking', () => {
  it('[revoke.1] makes a key stop authenticating at once', async () => {
    const { project, owner, key, secret } = await freshKey()
    expect((await answerOf(KEYS, secret, project)).status).toBe(200)
    expect((await answerOf(`${KEYS}/${key.id}`, owner.token, project, 'DELETE')).status).toBe(204)
    const refused = await answerOf(KEYS, secret, project)
    expect([refused.status, refused.body.code]).toEqual([401, 'key_revoked'])
    expect((await call(KEYS, { token: owner.token, project })).body.data).toEqual([])
  })

  it('[revoke.2] is of a key of the project: any other id is a 404 and changes nothing', async () => {
    const mine = await freshKey()
    const theirs = await freshKey()
    for (const id of [theirs.key.id, 'key_00000000000000000000000000', 'x']) {
      const answer = await call(`${KEYS}/${id}`, { method: 'DELETE', token: mine.secret, project: mine.project })
      expect([answer.status, answer.body.code]).toEqual([404, 'not_found'])
    }
    expect((await answerOf(KEYS, theirs.secret, theirs.project)).status).toBe(200)
  })
})

describe('listing keys', () => {
  it("[list.1] answers 200 with the project's redacted rows and never a secret", async () => {
    const { project, owner, key, secret } = await freshKey()
    const second = await mint(owner.token, project, { name: 'second' })
    await freshKey() // of another project: not listed
    for (const token of [owner.token, secret]) {
      const answer = await call(KEYS, { token, project })
      expect(answer.status).toBe(200)
      expect(answer.body.data.map((row) => row.id).sort()).toEqual([key.id, second.key.id].sort())
      for (const row of answer.body.data) {
        expect(Object.keys(row)).toEqual(expect.arrayContaining(SPECIFIED_ROW))
        expect(row).not.toHaveProperty('secret')
        expect(row).not.toHaveProperty('hash')
      }
    }
  })
})
