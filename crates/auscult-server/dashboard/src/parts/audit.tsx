// Who changed what.

import type { AuditLine, List } from "../api";
import { t } from "../texts";
import { Card, Failure, Moment, Table, useLoaded } from "./basics";

export function Audit() {
  const { value, error, reload } = useLoaded<List<AuditLine>>("/audit?limit=50");
  const columns = t.settings.auditColumns;
  return (
    <Card title={t.settings.audit}>
      {error && <Failure error={error} retry={reload} />}
      {value &&
        (value.items.length === 0 ? (
          <p class="empty-line">{t.settings.noAudit}</p>
        ) : (
          <Table columns={[columns.time, columns.who, columns.what, columns.answer]}>
            {value.items.map((line, index) => (
              <tr key={index}>
                <td>
                  <Moment time={line.time} />
                </td>
                <td>{line.who}</td>
                <td>{[line.action, line.detail].filter(Boolean).join(" · ")}</td>
                <td>{line.status < 400 ? t.settings.done : t.settings.refused(line.status)}</td>
              </tr>
            ))}
          </Table>
        ))}
    </Card>
  );
}
