// You, users, tokens, and who changed what.

import { useState } from "preact/hooks";
import { write } from "../api";
import { Audit } from "../parts/audit";
import { Card, Segments, useAction, useTitle } from "../parts/basics";
import { Tokens } from "../parts/tokens";
import { Users } from "../parts/users";
import { go } from "../router";
import { loadSession, session, unfollow, useStore } from "../store";
import { maySee } from "../states";
import { t } from "../texts";
import { type Theme, chooseTheme, theme } from "../theme";

export function SettingsPage() {
  useTitle(t.settings.title);
  const now = useStore(session);
  const [look, setLook] = useState<Theme>(theme());
  const [run, busy] = useAction();
  const logout = () =>
    run(async () => {
      await write("DELETE", "/session");
      unfollow();
      await loadSession();
      go("/login");
    });
  const isAdministrator = maySee(now?.user?.role, "administrator");
  return (
    <div class="settings">
      <header class="page-head">
        <div>
          <h1>{t.settings.title}</h1>
        </div>
      </header>
      <div class="columns">
        <Card title={t.settings.account}>
          <p>
            {now?.user && now.csrf !== null
              ? t.settings.loggedIn(now.user.name, t.roles[now.user.role])
              : t.settings.local}
          </p>
          {now?.csrf != null && (
            <div class="buttons">
              <button type="button" disabled={busy} onClick={logout}>
                {t.settings.logout}
              </button>
            </div>
          )}
        </Card>
        <Card title={t.settings.appearance}>
          <Segments
            label={t.settings.appearance}
            value={look}
            choose={(value) => {
              chooseTheme(value);
              setLook(value);
            }}
            options={Object.entries(t.settings.themes) as [Theme, string][]}
          />
        </Card>
      </div>
      {isAdministrator ? (
        <>
          <Users />
          <Tokens />
          <Audit />
        </>
      ) : (
        <p class="hint">{t.settings.onlyAdministrators}</p>
      )}
    </div>
  );
}
