-- Version 2: how the alarm rule of a model was chosen. The origin of one that was chosen again is `planned`.

-- JSON: the budget, the time from one clip to the next, the alarms to be expected, what is missing for a promise, and the rate and
-- the rule that the model had before; null if the rule is the model's own or the configuration's.
ALTER TABLE models ADD COLUMN planned TEXT;
