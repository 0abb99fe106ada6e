import { type Context, Hono } from 'hono'
import { MAX_LIVE_KEYS } from '../../../api-keys/limits'
import { MintBody, mintKey } from '../../../api-keys/mint'
import { findSecretsAddedThrough, revokeKey } from '../../../api-keys/revoke-store'
import { rotateKey } from '../../../api-keys/rotate-store'
import { newSecret } from '../../../api-keys/secret'
import { findKey, type KeyRow, listKeys } from '../../../api-keys/store'
import { changeKey, UpdateBody } from '../../../api-keys/update'
import { batch, run } from '../../../db/client'
import { changeOf, projectOf, requireScopes } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { Fault } from '../../../lib/fault'
import { readMembers } from '../../../members/people'
import { parse, refusalOf } from '../../form'
import { readList } from '../../list'
import { page, pathsOf } from '../../page'
import { userOf } from '../../session'
import { revokePage, rotatePage } from './confirm'
import { createPage } from './create'
import { editPage } from './edit'
import { expiryOf } from './expiry'
import { listPage } from './list'
import { secretPage } from './secret'

/** API keys: create, list, edit, rotate, revoke. */
export const apiKeyPages = new Hono<HttpEnv>()
  .get('/', page('api_keys:read'), async (c) => {
    const read = (before: string | null, limit: number) =>
      run(c.get('rt').db, listKeys(c.get('rt').db, projectOf(c.get('actor')), { before, limit }))
    const [keys, people] = await Promise.all([
      readList(c, 'api-keys', read),
      readMembers(c.get('rt'), projectOf(c.get('actor'))),
    ])
    return listPage(c, keys, people)
  })
  .get('/new', page('api_keys:write'), (c) =>
    createPage(c, { name: '', scopes: userOf(c).scopes, expires: '', on: '' }),
  )
  .post('/', page('api_keys:write'), async (c) => {
    const { rt, form } = { rt: c.get('rt'), form: c.get('form') }
    const text = (name: string) => form.get(name) ?? ''
    const entered = { name: text('name'), scopes: form.getAll('scope'), expires: text('expires'), on: text('on') }
    const { name, scopes, expires, on } = entered
    try {
      const fields = parse(MintBody, { name, scopes, expires_at: expiryOf(expires, on, rt.now) })
      const { row, secret } = await mintKey(rt, userOf(c), fields, changeOf(c))
      return secretPage(c, row, secret, 'created')
    } catch (error) {
      return createPage(c, entered, refusalOf(error))
    }
  })
  .get('/:id/edit', page('api_keys:write'), async (c) => {
    const row = await readKey(c)
    return editPage(c, row, { name: row.name, expires: '', on: '' })
  })
  .post('/:id/edit', page('api_keys:write'), async (c) => {
    const { rt, form } = { rt: c.get('rt'), form: c.get('form') }
    const text = (name: string) => form.get(name) ?? ''
    const entered = { name: text('name'), expires: text('expires'), on: text('on') }
    try {
      const expires_at = expiryOf(entered.expires, entered.on, rt.now) ?? undefined
      const changes = parse(UpdateBody, { name: entered.name, expires_at })
      await changeKey(rt, { project_id: projectOf(c.get('actor')), id: c.req.param('id') }, changes, changeOf(c))
    } catch (error) {
      return editPage(c, await readKey(c), entered, refusalOf(error))
    }
    return c.redirect(`${pathsOf(c).keys}?done=key_updated`, 303)
  })
  .get('/:id/rotate', page('api_keys:write'), async (c) => {
    const row = await readKey(c)
    requireScopes(userOf(c), row.scopes) // the rotation itself requires them too
    return rotatePage(c, row)
  })
  .post('/:id/rotate', page('api_keys:write'), async (c) => {
    const { db, store } = c.get('rt')
    const secret = await newSecret(store)
    const key = { project_id: projectOf(c.get('actor')), id: c.req.param('id'), held: userOf(c).scopes }
    try {
      const row = await rotateKey(db, key, secret, changeOf(c))
      return await secretPage(c, row, secret.secret, 'rotated')
    } catch (error) {
      return rotatePage(c, await readKey(c), refusalOf(error))
    }
  })
  .get('/:id/revoke', page('api_keys:write'), async (c) => {
    const { db } = c.get('rt')
    const [project, id] = [projectOf(c.get('actor')), c.req.param('id')]
    const all = { before: null, limit: MAX_LIVE_KEYS, issuedTo: id }
    const { keys, issued, added } = await batch(db, {
      keys: findKey(db, project, id),
      issued: listKeys(db, project, all),
      added: findSecretsAddedThrough(db, project, id),
    })
    return revokePage(
      c,
      required(keys),
      issued.filter((row) => row.id !== id), // a key that rotated itself
      added,
    )
  })
  .post('/:id/revoke', page('api_keys:write'), async (c) => {
    const issued = c.get('form').get('issued') === 'true'
    await revokeKey(
      c.get('rt').db,
      { project_id: projectOf(c.get('actor')), id: c.req.param('id'), issued },
      changeOf(c),
    )
    return c.redirect(`${pathsOf(c).keys}?done=${issued ? 'keys_revoked' : 'key_revoked'}`, 303)
  })

async function readKey(c: Context<HttpEnv>): Promise<KeyRow> {
  const { db } = c.get('rt')
  return required(await run(db, findKey(db, projectOf(c.get('actor')), c.req.param('id') ?? '')))
}

function required([row]: KeyRow[]): KeyRow {
  if (!row) throw new Fault('not_found', 'API key not found.')
  return row
}
