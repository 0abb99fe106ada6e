import { expect, it } from 'vitest'
import { catalogAs } from '../catalog/catalog'
import { freshKey } from '../harness'

it('[catalog.1] plans are managed with a session and with a key', async () => {
  const { project, owner, secret } = await freshKey()
  for (const token of [owner.token, secret]) {
    const api = catalogAs(project, token)
    await api.feature('sso')
    const key = `plan-${token.slice(0, 7)}`.replaceAll('_', '-')
    const made = await api.plan({ key, name: 'Pro', features: { sso: { value: true } } })
    expect([made.status, (await api.get(made.body.id)).body]).toEqual([201, made.body])
  }
})
