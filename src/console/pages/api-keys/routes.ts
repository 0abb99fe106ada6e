import { type Context, Hono } from 'hono'
import { MAX_LIVE_KEYS } from '../../../api-keys/limits'
import { MintBody, mintOnce } from '../../../api-keys/mint'
import { findSecretsAddedThrough, revokeKey } from '../../../api-keys/revoke-store'
import { rotateKey } from '../../../api-keys/rotate-store'
import { newSecret } from '../../../api-keys/secret'
import { findKey, findKeyEver, type KeyRow, listKeys } from '../../../api-keys/store'
import { noticeKey } from '../../../api-keys/tell'
import { changeKey, UpdateBody } from '../../../api-keys/update'
import { auditPaging } from '../../../audit-log/list'
import { listAudit } from '../../../audit-log/read-store'
import { batch, run } from '../../../db/client'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { requireScopes } from '../../../http/policy'
import { dormantScopes } from '../../../lib/access'
import { Fault, requireFound } from '../../../lib/fault'
import { readMembers, readRoles } from '../../../tenancy/people'
import { idIn, onceOf } from '../../csrf'
import { readList } from '../../list'
import { can, page, pathsOf } from '../../page'
import { parse, refusalOf } from '../../refusal'
import { userOf } from '../../session'
import type { NoticeName } from '../../ui/notice'
import { readPeople } from '../audit-log/names'
import { readProgress } from '../overview/read'
import { doneOf } from '../overview/steps'
import { scopesIn } from './access'
import { revokePage, rotatePage } from './confirm'
import { blank, createPage, type Entered } from './create'
import { editPage } from './edit'
import { expiryOf } from './expiry-fields'
import { keyPage } from './key'
import { listPage } from './list'
import { secretPage } from './secret'

/** Keys on a page of the list. With the longest names, a row takes nearly 2 kB. */
const LISTED = 30
/** How many entries of the audit log the page of a key shows. */
const HISTORY = 20

/** API keys: create, list, look at, edit, rotate, revoke. */
export const apiKeyPages = new Hono<HttpEnv>()
  .get('/', page('api_keys:read'), async (c) => {
    const read = (before: string | null, limit: number) =>
      run(c.get('rt').db, listKeys(c.get('rt').db, projectOf(c.get('actor')), { before, limit }))
    const [keys, people] = await Promise.all([
      readList(c, 'api-keys', read, LISTED),
      readMembers(c.get('rt'), projectOf(c.get('actor'))),
    ])
    return listPage(c, keys, people)
  })
  .get('/new', page('api_keys:write'), async (c) =>
    createPage(c, { entered: blank(c), once: await onceOf(c.get('rt'), userOf(c)) }),
  )
  .post('/', page('api_keys:write'), async (c) => {
    const { rt, form } = { rt: c.get('rt'), form: c.get('form') }
    const id = await idIn(rt, userOf(c), form.get('once'))
    const entered = enteredIn(form, scopesIn(form, userOf(c).scopes))
    // Read before the key is created: an error afterwards would lose the secret.
    const settingUp = doneOf(await readProgress(c)).includes(false)
    const { name, scopes, expires, on } = entered
    try {
      const fields = parse(MintBody, { name, scopes, expires_at: expiryOf(expires, on, rt.now) })
      const minted = await mintOnce(rt, userOf(c), { ...fields, id }, changeOf(c))
      if (!minted) return toKey(c, id, 'key_created_before')
      noticeKey(c, minted.row)
      return await secretPage(c, minted.row, minted.secret, { what: 'created', settingUp })
    } catch (error) {
      return createPage(c, { entered, once: await onceOf(rt, userOf(c)) }, refusalOf(error))
    }
  })
  .get('/:id', page('api_keys:read'), async (c) => {
    const rt = c.get('rt')
    const [project, id] = [projectOf(c.get('actor')), c.req.param('id')]
    const list = auditPaging('console/api-keys/history', { object_id: id, limit: HISTORY })
    const log = can(c, 'audit_log:read') ? run(rt.db, listAudit(rt.db, project, list.filters, list.at)) : null
    const [keys, entries, roles] = await Promise.all([
      run(rt.db, findKeyEver(rt.db, project, id)),
      log,
      readRoles(rt, project),
    ])
    const row = requireFound(keys, 'API key')
    const people = roles && new Map([...roles].map(([user, { email }]) => [user, email]))
    const dormant = roles ? dormantScopes(row.scopes, roles.get(row.created_by)?.role ?? null) : []
    const history = entries && list.page(entries, await readPeople(rt, people, entries)).data
    return keyPage(c, row, { people, history, dormant })
  })
  .get('/:id/edit', page('api_keys:write'), async (c) => {
    const row = await readKey(c)
    return editPage(c, row, { name: row.name, expires: '', on: '' })
  })
  .post('/:id/edit', page('api_keys:write'), async (c) => {
    const rt = c.get('rt')
    const entered = enteredIn(c.get('form'), [])
    const id = c.req.param('id')
    try {
      const expires_at = expiryOf(entered.expires, entered.on, rt.now) ?? undefined
      const changes = parse(UpdateBody, { name: entered.name, expires_at })
      await changeKey(rt, { project_id: projectOf(c.get('actor')), id }, changes, changeOf(c))
    } catch (error) {
      return editPage(c, await readKey(c), entered, refusalOf(error))
    }
    return toKey(c, id, 'key_updated')
  })
  .get('/:id/rotate', page('api_keys:write'), async (c) => {
    const row = await readKey(c)
    requireScopes(userOf(c), row.scopes) // the rotation itself requires them too
    return rotatePage(c, row)
  })
  .post('/:id/rotate', page('api_keys:write'), async (c) => {
    const { db, store } = c.get('rt')
    const secret = await newSecret(store)
    const [id, known] = [c.req.param('id'), c.get('form').get('known') ?? undefined]
    const key = { project_id: projectOf(c.get('actor')), id, held: userOf(c).scopes, known }
    try {
      const row = await rotateKey(db, key, secret, changeOf(c))
      return await secretPage(c, row, secret.secret, { what: 'rotated' })
    } catch (error) {
      // The form was sent again, or somebody else was first.
      if (error instanceof Fault && error.fault === 'rotation_conflict') return toKey(c, id, 'key_rotated_before')
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
      requireFound(keys, 'API key'),
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

function enteredIn(form: URLSearchParams, scopes: readonly string[]): Entered {
  const text = (name: string) => form.get(name) ?? ''
  return { name: text('name'), preset: text('preset'), scopes, expires: text('expires'), on: text('on') }
}

function toKey(c: Context<HttpEnv>, id: string, done: NoticeName) {
  return c.redirect(`${pathsOf(c).keys}/${encodeURIComponent(id)}?done=${done}`, 303)
}

async function readKey(c: Context<HttpEnv>): Promise<KeyRow> {
  const { db } = c.get('rt')
  return requireFound(await run(db, findKey(db, projectOf(c.get('actor')), c.req.param('id') ?? '')), 'API key')
}
