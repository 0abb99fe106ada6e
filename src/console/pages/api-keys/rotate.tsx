import { rotateKey } from '../../../api-keys/rotate'
import { newSecret } from '../../../api-keys/secret'
import { secretsSeen } from '../../../api-keys/secrets'
import { changeOf } from '../../../http/auth'
import { requireConfirmedFor, requireScopes } from '../../../http/policy'
import { action, leadTo } from '../../action'
import { userOf } from '../../session'
import { About, asked } from './about'
import { HandedKeys, readHanded } from './handed'
import { addressedKey, keyPath, readKey } from './key'
import { RotationFields, rotateOnce, rotationIn } from './rotation'
import { secretPage } from './secret'
import { readUse } from './use'

export const rotate = action({
  at: '/:id/rotate',
  needs: 'api_keys:write',
  counted: { ends: true },
  read: async (c) => {
    const row = await readKey(c)
    // The rotation itself requires both too.
    requireScopes(userOf(c), row.scopes)
    requireConfirmedFor(userOf(c), row.scopes)
    const [use, handed] = await Promise.all([readUse(c, addressedKey(c)), readHanded(c, addressedKey(c))])
    return { row, use, handed }
  },
  ask: (c, { row, use, handed }) => ({
    ...asked(c, row, 'Rotate'),
    says: (
      <About
        c={c}
        row={row}
        use={use}
        what="The key gets a new secret. Its name, its scopes and its expiry stay the same."
      />
    ),
    choice: (
      <>
        {handed.rows.length > 0 && (
          <>
            <HandedKeys c={c} of={handed} />
            <p>Rotating this key does not change {handed.rows.length === 1 ? 'it' : 'them'}.</p>
          </>
        )}
        <RotationFields what="secret" who="your servers use" seen={secretsSeen(row)} pending={row.pending} />
      </>
    ),
  }),
  run: async (c) => {
    const { db, store } = c.get('rt')
    const { how, known } = rotationIn(c.get('form'))
    const secret = await newSecret(store)
    const conflict = () => leadTo(c, keyPath(c, addressedKey(c).id), 'key_rotated_before')
    return rotateOnce(conflict, async () => {
      const row = await rotateKey(db, { ...addressedKey(c), actor: userOf(c), how, known }, secret, changeOf(c))
      return secretPage(c, row, secret.secret, { what: 'rotated', waits: how.when === 'first_use' })
    })
  },
  done: (_, response) => response,
})
