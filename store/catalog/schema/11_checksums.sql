-- A checksum of each row that nothing else could vouch for (store/catalog/checksums.py): row_sum is the program's own
-- function. Not INSERT OR REPLACE: the conflict clause of the statement outside would count instead. The + keeps a
-- column's affinity out of the comparison, which could not use the index with it.
CREATE TABLE checksums (
    name TEXT NOT NULL,                 -- the table
    key ANY NOT NULL,                   -- what tells its rows apart
    sum INTEGER NOT NULL,
    PRIMARY KEY (name, key)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER meta_insert_sum AFTER INSERT ON meta BEGIN
    DELETE FROM checksums WHERE name = 'meta' AND key = +new.key; INSERT INTO checksums VALUES ('meta', new.key, row_sum(CAST(new.key AS BLOB), CAST(new.value AS BLOB))); END;
CREATE TRIGGER meta_update_sum AFTER UPDATE ON meta BEGIN
    DELETE FROM checksums WHERE name = 'meta' AND key = +old.key; DELETE FROM checksums WHERE name = 'meta' AND key = +new.key; INSERT INTO checksums VALUES ('meta', new.key, row_sum(CAST(new.key AS BLOB), CAST(new.value AS BLOB))); END;
CREATE TRIGGER meta_delete_sum AFTER DELETE ON meta BEGIN
    DELETE FROM checksums WHERE name = 'meta' AND key = +old.key; END;
INSERT INTO checksums SELECT 'meta', key, row_sum(CAST(key AS BLOB), CAST(value AS BLOB)) FROM meta;
CREATE TRIGGER decisions_insert_sum AFTER INSERT ON decisions BEGIN
    DELETE FROM checksums WHERE name = 'decisions' AND key = +new.number; INSERT INTO checksums VALUES ('decisions', new.number, row_sum(new.number, CAST(new.id AS BLOB), CAST(new.verb AS BLOB), CAST(new.who AS BLOB), new.at, CAST(new.reverses AS BLOB), new.reversed)); END;
CREATE TRIGGER decisions_update_sum AFTER UPDATE ON decisions BEGIN
    DELETE FROM checksums WHERE name = 'decisions' AND key = +old.number; DELETE FROM checksums WHERE name = 'decisions' AND key = +new.number; INSERT INTO checksums VALUES ('decisions', new.number, row_sum(new.number, CAST(new.id AS BLOB), CAST(new.verb AS BLOB), CAST(new.who AS BLOB), new.at, CAST(new.reverses AS BLOB), new.reversed)); END;
CREATE TRIGGER decisions_delete_sum AFTER DELETE ON decisions BEGIN
    DELETE FROM checksums WHERE name = 'decisions' AND key = +old.number; END;
INSERT INTO checksums SELECT 'decisions', number, row_sum(number, CAST(id AS BLOB), CAST(verb AS BLOB), CAST(who AS BLOB), at, CAST(reverses AS BLOB), reversed) FROM decisions;
CREATE TRIGGER history_insert_sum AFTER INSERT ON history BEGIN
    DELETE FROM checksums WHERE name = 'history' AND key = +new.id; INSERT INTO checksums VALUES ('history', new.id, row_sum(new.id, CAST(new.decision AS BLOB), CAST(new.verb AS BLOB), CAST(new.address AS BLOB), new.at, CAST(new.who AS BLOB), CAST(new.reason AS BLOB), CAST(new.before AS BLOB), CAST(new.after AS BLOB))); END;
CREATE TRIGGER history_update_sum AFTER UPDATE ON history BEGIN
    DELETE FROM checksums WHERE name = 'history' AND key = +old.id; DELETE FROM checksums WHERE name = 'history' AND key = +new.id; INSERT INTO checksums VALUES ('history', new.id, row_sum(new.id, CAST(new.decision AS BLOB), CAST(new.verb AS BLOB), CAST(new.address AS BLOB), new.at, CAST(new.who AS BLOB), CAST(new.reason AS BLOB), CAST(new.before AS BLOB), CAST(new.after AS BLOB))); END;
CREATE TRIGGER history_delete_sum AFTER DELETE ON history BEGIN
    DELETE FROM checksums WHERE name = 'history' AND key = +old.id; END;
INSERT INTO checksums SELECT 'history', id, row_sum(id, CAST(decision AS BLOB), CAST(verb AS BLOB), CAST(address AS BLOB), at, CAST(who AS BLOB), CAST(reason AS BLOB), CAST(before AS BLOB), CAST(after AS BLOB)) FROM history;
CREATE TRIGGER verdicts_insert_sum AFTER INSERT ON verdicts BEGIN
    DELETE FROM checksums WHERE name = 'verdicts' AND key = +new.id; INSERT INTO checksums VALUES ('verdicts', new.id, row_sum(new.id, CAST(new.decision AS BLOB), CAST(new.first AS BLOB), CAST(new.second AS BLOB), new.at, CAST(new.who AS BLOB), CAST(new.before AS BLOB), CAST(new.after AS BLOB))); END;
CREATE TRIGGER verdicts_update_sum AFTER UPDATE ON verdicts BEGIN
    DELETE FROM checksums WHERE name = 'verdicts' AND key = +old.id; DELETE FROM checksums WHERE name = 'verdicts' AND key = +new.id; INSERT INTO checksums VALUES ('verdicts', new.id, row_sum(new.id, CAST(new.decision AS BLOB), CAST(new.first AS BLOB), CAST(new.second AS BLOB), new.at, CAST(new.who AS BLOB), CAST(new.before AS BLOB), CAST(new.after AS BLOB))); END;
CREATE TRIGGER verdicts_delete_sum AFTER DELETE ON verdicts BEGIN
    DELETE FROM checksums WHERE name = 'verdicts' AND key = +old.id; END;
INSERT INTO checksums SELECT 'verdicts', id, row_sum(id, CAST(decision AS BLOB), CAST(first AS BLOB), CAST(second AS BLOB), at, CAST(who AS BLOB), CAST(before AS BLOB), CAST(after AS BLOB)) FROM verdicts;
CREATE TRIGGER drafts_insert_sum AFTER INSERT ON drafts BEGIN
    DELETE FROM checksums WHERE name = 'drafts' AND key = json_array(new.address, new.who); INSERT INTO checksums VALUES ('drafts', json_array(new.address, new.who), row_sum(CAST(new.address AS BLOB), CAST(new.fields AS BLOB), CAST(new.who AS BLOB), new.at)); END;
CREATE TRIGGER drafts_update_sum AFTER UPDATE ON drafts BEGIN
    DELETE FROM checksums WHERE name = 'drafts' AND key = json_array(old.address, old.who); DELETE FROM checksums WHERE name = 'drafts' AND key = json_array(new.address, new.who); INSERT INTO checksums VALUES ('drafts', json_array(new.address, new.who), row_sum(CAST(new.address AS BLOB), CAST(new.fields AS BLOB), CAST(new.who AS BLOB), new.at)); END;
CREATE TRIGGER drafts_delete_sum AFTER DELETE ON drafts BEGIN
    DELETE FROM checksums WHERE name = 'drafts' AND key = json_array(old.address, old.who); END;
INSERT INTO checksums SELECT 'drafts', json_array(address, who), row_sum(CAST(address AS BLOB), CAST(fields AS BLOB), CAST(who AS BLOB), at) FROM drafts;
CREATE TRIGGER sources_insert_sum AFTER INSERT ON sources BEGIN
    DELETE FROM checksums WHERE name = 'sources' AND key = json_array(new.decision, new.address, new.facet); INSERT INTO checksums VALUES ('sources', json_array(new.decision, new.address, new.facet), row_sum(CAST(new.decision AS BLOB), CAST(new.address AS BLOB), CAST(new.facet AS BLOB), CAST(new.model AS BLOB), CAST(new.prompt AS BLOB), new.edited)); END;
CREATE TRIGGER sources_update_sum AFTER UPDATE ON sources BEGIN
    DELETE FROM checksums WHERE name = 'sources' AND key = json_array(old.decision, old.address, old.facet); DELETE FROM checksums WHERE name = 'sources' AND key = json_array(new.decision, new.address, new.facet); INSERT INTO checksums VALUES ('sources', json_array(new.decision, new.address, new.facet), row_sum(CAST(new.decision AS BLOB), CAST(new.address AS BLOB), CAST(new.facet AS BLOB), CAST(new.model AS BLOB), CAST(new.prompt AS BLOB), new.edited)); END;
CREATE TRIGGER sources_delete_sum AFTER DELETE ON sources BEGIN
    DELETE FROM checksums WHERE name = 'sources' AND key = json_array(old.decision, old.address, old.facet); END;
INSERT INTO checksums SELECT 'sources', json_array(decision, address, facet), row_sum(CAST(decision AS BLOB), CAST(address AS BLOB), CAST(facet AS BLOB), CAST(model AS BLOB), CAST(prompt AS BLOB), edited) FROM sources;
CREATE TRIGGER suggestions_insert_sum AFTER INSERT ON suggestions BEGIN
    DELETE FROM checksums WHERE name = 'suggestions' AND key = +new.id; INSERT INTO checksums VALUES ('suggestions', new.id, row_sum(new.id, CAST(new.address AS BLOB), CAST(new.facet AS BLOB), CAST(new.text AS BLOB), CAST(new.model AS BLOB), CAST(new.prompt AS BLOB), CAST(new.hint AS BLOB), CAST(new.who AS BLOB), new.job, new.at, CAST(new.state AS BLOB), new.settled_at, CAST(new.settled_by AS BLOB))); END;
CREATE TRIGGER suggestions_update_sum AFTER UPDATE ON suggestions BEGIN
    DELETE FROM checksums WHERE name = 'suggestions' AND key = +old.id; DELETE FROM checksums WHERE name = 'suggestions' AND key = +new.id; INSERT INTO checksums VALUES ('suggestions', new.id, row_sum(new.id, CAST(new.address AS BLOB), CAST(new.facet AS BLOB), CAST(new.text AS BLOB), CAST(new.model AS BLOB), CAST(new.prompt AS BLOB), CAST(new.hint AS BLOB), CAST(new.who AS BLOB), new.job, new.at, CAST(new.state AS BLOB), new.settled_at, CAST(new.settled_by AS BLOB))); END;
CREATE TRIGGER suggestions_delete_sum AFTER DELETE ON suggestions BEGIN
    DELETE FROM checksums WHERE name = 'suggestions' AND key = +old.id; END;
INSERT INTO checksums SELECT 'suggestions', id, row_sum(id, CAST(address AS BLOB), CAST(facet AS BLOB), CAST(text AS BLOB), CAST(model AS BLOB), CAST(prompt AS BLOB), CAST(hint AS BLOB), CAST(who AS BLOB), job, at, CAST(state AS BLOB), settled_at, CAST(settled_by AS BLOB)) FROM suggestions;
CREATE TRIGGER prompts_insert_sum AFTER INSERT ON prompts BEGIN
    DELETE FROM checksums WHERE name = 'prompts' AND key = json_array(new.name, new.version); INSERT INTO checksums VALUES ('prompts', json_array(new.name, new.version), row_sum(CAST(new.name AS BLOB), new.version, CAST(new.text AS BLOB), CAST(new.who AS BLOB), new.at)); END;
CREATE TRIGGER prompts_update_sum AFTER UPDATE ON prompts BEGIN
    DELETE FROM checksums WHERE name = 'prompts' AND key = json_array(old.name, old.version); DELETE FROM checksums WHERE name = 'prompts' AND key = json_array(new.name, new.version); INSERT INTO checksums VALUES ('prompts', json_array(new.name, new.version), row_sum(CAST(new.name AS BLOB), new.version, CAST(new.text AS BLOB), CAST(new.who AS BLOB), new.at)); END;
CREATE TRIGGER prompts_delete_sum AFTER DELETE ON prompts BEGIN
    DELETE FROM checksums WHERE name = 'prompts' AND key = json_array(old.name, old.version); END;
INSERT INTO checksums SELECT 'prompts', json_array(name, version), row_sum(CAST(name AS BLOB), version, CAST(text AS BLOB), CAST(who AS BLOB), at) FROM prompts;
CREATE TRIGGER taxonomies_insert_sum AFTER INSERT ON taxonomies BEGIN
    DELETE FROM checksums WHERE name = 'taxonomies' AND key = +new.number; INSERT INTO checksums VALUES ('taxonomies', new.number, row_sum(new.number, CAST(new.decision AS BLOB), new.at, CAST(new.who AS BLOB), CAST(new.before AS BLOB), CAST(new.after AS BLOB))); END;
CREATE TRIGGER taxonomies_update_sum AFTER UPDATE ON taxonomies BEGIN
    DELETE FROM checksums WHERE name = 'taxonomies' AND key = +old.number; DELETE FROM checksums WHERE name = 'taxonomies' AND key = +new.number; INSERT INTO checksums VALUES ('taxonomies', new.number, row_sum(new.number, CAST(new.decision AS BLOB), new.at, CAST(new.who AS BLOB), CAST(new.before AS BLOB), CAST(new.after AS BLOB))); END;
CREATE TRIGGER taxonomies_delete_sum AFTER DELETE ON taxonomies BEGIN
    DELETE FROM checksums WHERE name = 'taxonomies' AND key = +old.number; END;
INSERT INTO checksums SELECT 'taxonomies', number, row_sum(number, CAST(decision AS BLOB), at, CAST(who AS BLOB), CAST(before AS BLOB), CAST(after AS BLOB)) FROM taxonomies;
CREATE TRIGGER golden_insert_sum AFTER INSERT ON golden BEGIN
    DELETE FROM checksums WHERE name = 'golden' AND key = +new.line; INSERT INTO checksums VALUES ('golden', new.line, row_sum(CAST(new.line AS BLOB), CAST(new.answers AS BLOB), CAST(new.collection AS BLOB), CAST(new.who AS BLOB), new.at)); END;
CREATE TRIGGER golden_update_sum AFTER UPDATE ON golden BEGIN
    DELETE FROM checksums WHERE name = 'golden' AND key = +old.line; DELETE FROM checksums WHERE name = 'golden' AND key = +new.line; INSERT INTO checksums VALUES ('golden', new.line, row_sum(CAST(new.line AS BLOB), CAST(new.answers AS BLOB), CAST(new.collection AS BLOB), CAST(new.who AS BLOB), new.at)); END;
CREATE TRIGGER golden_delete_sum AFTER DELETE ON golden BEGIN
    DELETE FROM checksums WHERE name = 'golden' AND key = +old.line; END;
INSERT INTO checksums SELECT 'golden', line, row_sum(CAST(line AS BLOB), CAST(answers AS BLOB), CAST(collection AS BLOB), CAST(who AS BLOB), at) FROM golden;
CREATE TRIGGER judgements_insert_sum AFTER INSERT ON judgements BEGIN
    DELETE FROM checksums WHERE name = 'judgements' AND key = json_array(new.line, new.address); INSERT INTO checksums VALUES ('judgements', json_array(new.line, new.address), row_sum(CAST(new.line AS BLOB), CAST(new.address AS BLOB), new.good, CAST(new.who AS BLOB), new.at)); END;
CREATE TRIGGER judgements_update_sum AFTER UPDATE ON judgements BEGIN
    DELETE FROM checksums WHERE name = 'judgements' AND key = json_array(old.line, old.address); DELETE FROM checksums WHERE name = 'judgements' AND key = json_array(new.line, new.address); INSERT INTO checksums VALUES ('judgements', json_array(new.line, new.address), row_sum(CAST(new.line AS BLOB), CAST(new.address AS BLOB), new.good, CAST(new.who AS BLOB), new.at)); END;
CREATE TRIGGER judgements_delete_sum AFTER DELETE ON judgements BEGIN
    DELETE FROM checksums WHERE name = 'judgements' AND key = json_array(old.line, old.address); END;
INSERT INTO checksums SELECT 'judgements', json_array(line, address), row_sum(CAST(line AS BLOB), CAST(address AS BLOB), good, CAST(who AS BLOB), at) FROM judgements;
