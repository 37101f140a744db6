// Tokens: how programs show who they are.

import { useState } from "preact/hooks";
import { type List, type Token, write } from "../api";
import { exactly } from "../format";
import { say } from "../store";
import { t } from "../texts";
import { Card, Confirm, Failure, Form, Table, useAction, useLoaded } from "./basics";

const SCOPES = Object.keys(t.settings.scopeText);

export function Tokens() {
  const { value, error, reload } = useLoaded<List<Token>>("/tokens");
  const [made, setMade] = useState<Token | null>(null);
  const [revoking, revoke] = useState<Token | null>(null);
  const [run, busy] = useAction();
  const add = (form: HTMLFormElement) =>
    run(async () => {
      const values = new FormData(form);
      const days = String(values.get("days") ?? "");
      const body = {
        name: values.get("name"),
        scopes: values.getAll("scope"),
        ...(days === "" ? {} : { expires_days: Number(days) }),
      };
      setMade(await write<Token>("POST", "/tokens", body));
      form.reset();
      reload();
    });
  const columns = t.settings.tokenColumns;
  return (
    <Card title={t.settings.tokens}>
      <p class="hint">{t.settings.tokensText}</p>
      {error && <Failure error={error} retry={reload} />}
      {made?.secret && (
        <p class="secret" role="status">
          {t.settings.secret} <code>{made.secret}</code>
          <button
            type="button"
            class="small"
            onClick={() => void navigator.clipboard?.writeText(made.secret ?? "").then(() => say(t.settings.copied))}
          >
            {t.settings.copy}
          </button>
        </p>
      )}
      {value &&
        (value.items.length === 0 ? (
          <p class="empty-line">{t.settings.noTokens}</p>
        ) : (
          <Table columns={[columns.name, columns.scopes, columns.expires, t.settings.actions]}>
            {value.items.map((token) => (
              <tr key={token.name}>
                <td>{token.name}</td>
                <td>{token.scopes.join(", ")}</td>
                <td>{token.expires == null ? t.settings.never : exactly(token.expires)}</td>
                <td>
                  <button type="button" class="small" onClick={() => revoke(token)}>
                    {t.settings.revoke}
                  </button>
                </td>
              </tr>
            ))}
          </Table>
        ))}
      <h3>{t.settings.addToken}</h3>
      <Form class="fields" send={add}>
        <label>
          {t.settings.name}
          <input name="name" required autocomplete="off" />
        </label>
        <fieldset class="scopes">
          <legend>{t.settings.scopes}</legend>
          {SCOPES.map((scope) => (
            <label key={scope} title={t.settings.scopeText[scope]}>
              <input type="checkbox" name="scope" value={scope} defaultChecked={scope === "read"} />
              {scope}
              <small>{t.settings.scopeText[scope]}</small>
            </label>
          ))}
        </fieldset>
        <label>
          {t.settings.expires}
          <input name="days" type="number" min={1} max={3650} placeholder={t.settings.noLimit} />
        </label>
        <button type="submit" class="primary" disabled={busy} aria-label={t.settings.addToken}>
          {t.settings.add}
        </button>
      </Form>
      {revoking && (
        <Confirm
          title={t.settings.revokeAsk(revoking.name)}
          close={() => revoke(null)}
          act={async () => {
            await write("DELETE", `/tokens/${encodeURIComponent(revoking.name)}`);
            reload();
          }}
        />
      )}
    </Card>
  );
}
