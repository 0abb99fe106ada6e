import { type Context, Hono } from 'hono'
import { MintBody, mintKey } from '../../../api-keys/mint'
import { newSecret } from '../../../api-keys/secret'
import { findKey, type KeyRow, listKeys, revokeKey, rotateKey } from '../../../api-keys/store'
import { run } from '../../../db/client'
import { changeOf, projectOf, requireScopes } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { Fault } from '../../../lib/fault'
import { DAY, iso } from '../../../lib/time'
import { pageOf } from '../../list'
import { mistakesOf, page, parse } from '../../page'
import { projectPaths } from '../../paths'
import { userOf } from '../../session'
import { listPage, mintPage, revokePage, rotatePage, secretPage } from './views'

/** API keys: mint, list, rotate, revoke. */
export const apiKeyPages = new Hono<HttpEnv>()
  .get('/', page('api_keys:read'), async (c) => {
    const read = (before: string | null, limit: number) =>
      listKeys(c.get('rt').db, projectOf(c.get('actor')), before, limit)
    return listPage(c, await pageOf(c, 'api-keys', read))
  })
  .get('/new', page('api_keys:write'), (c) => mintPage(c, { name: '', scopes: userOf(c).scopes, expires: '', on: '' }))
  .post('/', page('api_keys:write'), async (c) => {
    const { rt, form } = { rt: c.get('rt'), form: c.get('form') }
    const scopes = form.getAll('scope')
    const entered = {
      name: form.get('name') ?? '',
      scopes,
      expires: form.get('expires') ?? '',
      on: form.get('on') ?? '',
    }
    try {
      const expires_at = expiry(entered.expires, entered.on, rt.now)
      const fields = parse(MintBody, { name: entered.name, scopes, expires_at })
      const { row, secret } = await mintKey(rt, userOf(c), fields, changeOf(c))
      return secretPage(c, row, secret, 'created')
    } catch (error) {
      const { mistakes, status } = mistakesOf(error)
      return mintPage(c, entered, mistakes, status)
    }
  })
  .get('/:id/rotate', page('api_keys:write'), async (c) => {
    const row = await readKey(c)
    requireScopes(userOf(c), row.scopes) // as the rotation itself would
    return rotatePage(c, row)
  })
  .post('/:id/rotate', page('api_keys:write'), async (c) => {
    const { db } = c.get('rt')
    const secret = await newSecret()
    const id = c.req.param('id')
    try {
      const key = { project_id: projectOf(c.get('actor')), id, held: userOf(c).scopes }
      const row = await rotateKey(db, key, secret, changeOf(c))
      return await secretPage(c, row, secret.secret, 'rotated')
    } catch (error) {
      const { mistakes, status } = mistakesOf(error)
      return rotatePage(c, await readKey(c), mistakes, status)
    }
  })
  .get('/:id/revoke', page('api_keys:write'), async (c) => revokePage(c, await readKey(c)))
  .post('/:id/revoke', page('api_keys:write'), async (c) => {
    const project = projectOf(c.get('actor'))
    await revokeKey(c.get('rt').db, project, c.req.param('id') ?? '', changeOf(c))
    return c.redirect(`${projectPaths(project).keys}?done=key_revoked`, 303)
  })

async function readKey(c: Context<HttpEnv>): Promise<KeyRow> {
  const { db } = c.get('rt')
  const [row] = await run(db, findKey(db, projectOf(c.get('actor')), c.req.param('id') ?? ''))
  if (!row) throw new Fault('not_found', 'No live API key of this project has this id.')
  return row
}

/** The chosen end of a key: in so many days, at the end of a date (UTC), or never. A date that is given is meant. */
function expiry(choice: string, on: string, now: number): string | null {
  if (choice === '' && on === '') return null
  const days = choice !== '' && choice !== 'date'
  if (days && on === '') return iso(now + Math.min(Math.max(Number(choice) || 0, 0), 36_500) * DAY)
  const end = Date.parse(`${on}T23:59:59.999Z`)
  if (!days && !Number.isNaN(end)) return iso(end)
  const message = days ? 'clear the date, or choose “On a date …”' : 'pick the date'
  throw new Fault('validation_failed', message, { errors: [{ pointer: '/expires_at', code: 'required', message }] })
}
