import { type Context, Hono } from 'hono'
import { malformedKey } from '../../../catalog/faults'
import { deleteFeature, type Feature, findFeature, listFeatures, putFeature } from '../../../catalog/features-store'
import { catalogKey, PutFeatureBody } from '../../../catalog/fields'
import { MAX_PLANS } from '../../../catalog/limits'
import { listPlans, withPrices } from '../../../catalog/plans-store'
import { batch, run } from '../../../db/client'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { paging } from '../../../http/page'
import { Fault, requireFound } from '../../../lib/fault'
import { parse, type Refusal, refusalOf } from '../../form'
import { pageAsked } from '../../list'
import { page, pathsOf } from '../../page'
import type { NoticeName } from '../../ui/notice'
import { deletePage } from './delete'
import { createPage, type Entered, editPage, enteredIn } from './form'
import { listPage } from './list'

/** The features of the catalog: list, create, edit, delete. */
export const featurePages = new Hono<HttpEnv>()
  .get('/', page('catalog:read'), async (c) => {
    const { db } = c.get('rt')
    const project = projectOf(c.get('actor'))
    const list = paging('console/features', pageAsked(c), ({ key }: { key: string }) => key)
    const { rows, plans } = await batch(db, {
      rows: listFeatures(db, project, list),
      plans: listPlans(db, project, { before: null, take: MAX_PLANS }),
    })
    return listPage(
      c,
      list.page(rows, (row) => row),
      withPrices(plans, []),
    )
  })
  .get('/new', page('catalog:write'), (c) => createPage(c))
  .post('/', page('catalog:write'), async (c) => {
    const entered = enteredIn(c.get('form'))
    try {
      if (!catalogKey.safeParse(entered.key).success) throw malformedKey()
      const [there] = await find(c, entered.key)
      if (there)
        return createPage(c, entered, { mistakes: { key: 'Another feature already has this key.' }, status: 409 })
      await put(c, entered.key, entered)
      return toList(c, 'feature_created')
    } catch (error) {
      return createPage(c, entered, refusedBecause(error))
    }
  })
  .get('/:key/edit', page('catalog:write'), async (c) => {
    const feature = await read(c)
    return editPage(c, feature, { ...feature, combine: feature.combine ?? '' })
  })
  .post('/:key/edit', page('catalog:write'), async (c) => {
    const feature = await read(c)
    const entered = { ...enteredIn(c.get('form')), key: feature.key, type: feature.type }
    try {
      await put(c, feature.key, entered)
      return toList(c, 'feature_changed')
    } catch (error) {
      return editPage(c, feature, entered, refusedBecause(error))
    }
  })
  .get('/:key/delete', page('catalog:write'), async (c) => deletePage(c, await read(c)))
  .post('/:key/delete', page('catalog:write'), async (c) => {
    const feature = await read(c)
    try {
      await deleteFeature(c.get('rt').db, { project_id: projectOf(c.get('actor')), key: feature.key }, changeOf(c))
      return toList(c, 'feature_deleted')
    } catch (error) {
      return deletePage(c, feature, refusedBecause(error))
    }
  })

/** Why a form was refused. @throws the error itself if the user cannot fix it */
function refusedBecause(error: unknown): Refusal {
  const fault = error instanceof Fault ? error.fault : undefined
  if (error instanceof Fault && fault === 'feature_in_use') return { mistakes: { form: error.detail }, status: 409 }
  const refusal = refusalOf(error)
  // The key is in the path of the call, so an error about it has no pointer.
  const { form, ...rest } = refusal.mistakes
  return fault === 'validation_failed' && form ? { ...refusal, mistakes: { ...rest, key: form } } : refusal
}

async function put(c: Context<HttpEnv>, key: string, { name, type, combine }: Entered): Promise<void> {
  const fields = parse(PutFeatureBody, { name, type, ...(type === 'quantity' && { combine }) })
  await putFeature(c.get('rt').db, { project_id: projectOf(c.get('actor')), key }, fields, changeOf(c))
}

function find(c: Context<HttpEnv>, key: string) {
  const { db } = c.get('rt')
  return run(db, findFeature(db, projectOf(c.get('actor')), key))
}

/** Reads the feature in the path. @throws {Fault} `not_found` */
async function read(c: Context<HttpEnv>): Promise<Feature> {
  return requireFound(await find(c, c.req.param('key') ?? ''), 'Feature')
}

function toList(c: Context<HttpEnv>, done: NoticeName) {
  return c.redirect(`${pathsOf(c).features}?done=${done}`, 303)
}
