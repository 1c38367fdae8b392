"""The commands of the recorder in a short notation, its scripts, and the input files for them,
good and damaged.
"""

from __future__ import annotations

import gzip
import itertools
import json
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Command:
    """Steps that run one after the other in one folder."""

    id: str
    # A step is a program (``classic-rc``, ``python`` or a module) and its arguments; the last two
    # may be ``<`` and the file that is stdin.
    steps: list[list[str]]
    quick: bool = True  # whether ``--quick`` runs it
    late: bool = False  # it reads files of other commands, so it is recorded after them


# --------------------------------------------------------------------------------------------------
# The commands. A line is a command without `classic-rc` in front; a line that begins with blanks
# continues it. In `NAME: STEP && STEP < STDIN`, the name is given because other commands read the
# files; else it is the number of the line in its group. {a|b}, {TASK} (sample:cloze) and {TASKNAME}
# (cloze) are replaced by their values in turn, in as many commands as the longest list of values
# has; after `all`, in all combinations. {0} is the value of the first braces. A star means that
# `--quick` runs the command too.

_SPECS = """
constant-position,position=2 longest,unit=words shortest,unit=words random,seed=7 {length|verbatim-overlap}
length,unit=words negation,analyzer=treebank
{max-frequency|exclusive-frequency},analyzer={treebank|word+porter}
cloze-distance,max_distance=3 cloze-distance,analyzer=treebank cloze-window,weights=idf
sliding-window,window={1|7|30|passage|tuned} sliding-window,inverse_counts=corpus
sliding-window,analyzer={mctest|treebank|whitespace|char|dream|mcobzarenco|multirc2018|lucene-english}
sliding-window,analyzer={word+cased|word+porter|word+stop=sklearn}
word-distance,distance={min|min+1|first}
word-distance,stop_words={none|mctest|mcobzarenco|lucene|nltk|sklearn}
sw+d,distance_weight=0.5 sw+d,window=5,distance_weight=2 sw+d,analyzer=treebank+porter,stop_words=nltk
sw+d,inverse_counts=corpus,window=passage sw+d:mctest160,distance_weight=3
lexical,weights={mc160|learned|1/2/3/4} lexical,negation=False,normaliser=none
lexical,bugs={all|last-window|distance|sentence-borders} lexical,stop_words=nltk,analyzer=treebank
lexical:smith2015-raw,negation=True,normaliser=porter
ir,similarity=classic ir:paragraphs,similarity={bm25|classic}
ir,corpus=paragraphs+paragraphs ir,analyzer=word
ir,depth=5,corpus=paragraphs ir:paragraphs,depth=5,overlap=word+porter
ir:paragraphs,engine=rank-bm25,similarity=okapi
ir:paragraphs,exclude_verbatim=True
surface-lr,C=0.1 surface-lr,features={lengths|overlap|lengths+overlap|answer|question-answer|text-answer}
surface-lr,inputs={no-passage|no-question|candidates} surface-lr,scaling=none
surface-lr,question_words=2 surface-lr,learner=liblinear
surface-lr:multirc2018,C=0.5 surface-lr,analyzer=treebank+porter
span-sw,context=passage span-sw,distance=min,distance_weight=0.5 span-sw,distance=mean,stop_words=none
span-ranker,epochs=2,seed=3 span-ranker:wh-word span-ranker,features=classes+length,rate=0.2
ngram-lm,order={1|2|5} ngram-lm,cache_weight=0.1 ngram-lm,normalise=length ngram-lm,scoring=partial
ngram-lm,discounts=0.75 ngram-lm,corpus=queries ngram-lm,corpus=passages+queries ngram-lm,corpus=inputs/lines.txt
ngram-lm,analyzer=treebank,order=4,cache_weight=0.3
alignment-ilp,chunks=words alignment-ilp,max_sentences=1,max_edges=3 alignment-ilp,normaliser=none,stop_words=smart
alignment-ilp,align_option=False,align_without=False alignment-ilp,sentence_weight=0,question_weight=1,offset=0.2
alignment-ilp,wordnet=auto alignment-ilp,max_sentences=None,max_copies=None,min_question_share=None
combination,solvers=[sw+d;longest],weights={[1;0.05]|tuned|stacked}
combination,solvers=[sw+d;ir;shortest],weights=stacked,normalise={question|standard},C=0.5,folds=3
combination,solvers=[surface-lr;ir],weights=[1;2],normalise=standard
inputs/own.py:Middle inputs/own.py:Middle,weight=2.5
"""

_SAMPLE = """
list-{solvers|variants|readers|metrics|analyzers|formats|keys|stop-lists}: list {0}
bibtex: list --bibtex && list --bibtex -o all.bib && list --bibtex sw+d:mcobzarenco race f1_m &&
  list --bibtex {SOLVERS} && list --bibtex {METRICS} {READERS}
floor --format {table|markdown|latex|csv|json|html}
floor race:test mctest:mc500.dev --by {level|type} --format {table|json} -v
floor race:dev --by level --format {table|markdown|latex|csv|json}
floor sample:single-choice --format {table|csv}
--version
run sample --format {table|markdown|latex|csv|json}
all run {TASK} --format {table|markdown|latex|csv|json} --published --intervals 200
run {TASK} --cv 3 --format {table|csv|json} --save record
all run {TASK} --by {KEY} -s sw+d -s random --format csv && run {0} --by {1} -s ir && run {0} --by
  {1} -s longest --format latex
run sample --baseline sliding-window -s sliding-window -s sw+d -s longest --format {table|markdown|latex|csv|json}
run sample:single-choice --baseline longest -s longest -s sw+d --intervals 300 --seed 4 --by type
run sample --ties {partial|first|random|strict} --seed 3 --format json -s sw+d -s longest -s shortest
all run sample:multiple-answer --tune-metric {f1_a|f1_m|em0|em1|superglue_f1_m|accuracy} --format json -s sw+d -s ir
run sample:multiple-answer --threshold {exact|multirc2018} -s sw+d -s surface-lr --cv 4 --format json
run sample:multiple-answer --threshold {0|1.5|-2} -s sw+d -s longest --format json
run sample:multi-span -s span-sw,margin={0|0.5} -s ir,margin={0} --format json
all run sample:multi-span,spans={1|3|25} -s span-sw -s random --format json
run sample --cv 2 -s surface-lr --save r &&
  run sample:multi-span --cv 2 -s span-ranker,margin=0.3 --format json
run sample:single-choice --train inputs/leaky.jsonl -s surface-lr -s length -s constant-position:majority --save r
run sample --train sample:{single-choice|multiple-answer} --drop-overlap --format json
run sample:single-choice --train inputs/leaky.jsonl --train sample:single-choice --drop-overlap -s surface-lr
run {TASK} --train {TASK} -s sw+d -s ngram-lm --format json
run sample:multiple-answer --tune sample:multiple-answer -s sw+d --format json
run sample:single-choice --tune sample:single-choice -s sliding-window:race -s sliding-window,window=tuned
run sample:single-choice --cv 3 --group level -s surface-lr -s length --format json
run {TASK} --jobs 2 -s sw+d -s longest --format json && run {TASK} --quiet -o t && run {TASK} --format csv
  -o t.csv
run sample -s ir,exclude_verbatim=True --format json && run sample:single-choice -s inputs/own.py:Middle --save r &&
  reproduce r --trust && reproduce r
check {TASK} --format {table|markdown|json}
check sample:single-choice --cv 3 --group level && check sample:multiple-answer --train
  sample:multiple-answer
check inputs/leaky.jsonl --fail && check inputs/twice.jsonl --format json
report {TASK} -o page.html --title Mine --published && report {TASK} --cv 3 -o b.html
  --without check,explanations
report sample:single-choice -s sw+d -s ir --by type --by level --explain ir -o page.html --labels inputs/labels.csv
explain {TRAINED} -s {sw+d|ir|lexical|surface-lr|ngram-lm} --color {always|never}
all explain {QUESTION} --format {text|json|html} -o explained
all run {TASK} --by {KEY} -s sw+d -s random -s longest --intervals 200 --format csv
run sample:single-choice --labels inputs/labels.csv -s sw+d --by skills --by skills,skills --format
  {table|markdown|latex|csv|json}
run sample:single-choice --labels inputs/labels.{jsonl|json} --by {skills|skills:alone|skills:count} --quiet
run sample:single-choice --by type --by type,level --labels inputs/labels.csv -s sw+d --figure groups
  -o bars.{pdf|png|svg}
run sample:multiple-answer --by sentences_used:count -s sw+d --metrics {f1_m|f1_a|em0|em1} --cv 3 --format csv
compare sw+d longest ir --data {TASK} --test {permutation|mcnemar} --intervals 300
compare a=sw+d b=sliding-window,window=5 --data {TASK} --format {markdown|latex|csv|json} --seed 5 --intervals 300
compare sw+d longest --data sample:single-choice --group level --metrics accuracy
compare sw+d surface-lr --data sample:multiple-answer --metrics {f1_m|f1_a|em0|em1|superglue_f1_m} --cv 3
  --intervals
  99
run sample:multiple-answer -s sw+d -s longest --figure {pr|pr-micro} -o {c.csv|c.pdf|c.png|c.svg}
run sample:multiple-answer --figure pr -s surface-lr --cv 3 && run sample:single-choice --figure pr -s ir
all predict {TASK} -s sw+d --format {FORMAT} --ties first
predict {TASK} -s {random|longest} --format jsonl --ties first && predict {TASK} -s sw+d --format jsonl --cv 2
predict sample:multiple-answer -s sw+d --format {FORMAT} --threshold 1
predict {TASK} -s sw+d --ties {random|strict} --seed 4 && predict {TASK} -s ir -o p && run {TASK} -s p
predict sample:multi-span -s span-sw,margin=0.9 -o p && run sample:multi-span -s p --format json
reproduce sample
fit sample:single-choice -s
  {surface-lr|lexical,weights=learned|ngram-lm|combination,solvers=[sw+d;ir],weights=stacked} -o m && run
  sample:single-choice -s saved,path=m --format json && explain sample:single-choice lantern.1 -s saved,path=m &&
  run sample:single-choice -s saved,path=m --save r && reproduce r
fit sample:{cloze|multi-span} -s {ngram-lm,order=4|span-ranker} -o m && predict sample:{0} -s saved,path=m
index inputs/lines.txt -o i --lines {auto|sentences|paragraphs} && index i --check && run sample -s ir,corpus=i
  --format json
index inputs/lines.txt.gz inputs/rows.jsonl -o i --analyzer {ANALYZER} && run sample:cloze
  -s ir,analyzer={0},corpus=i
index inputs/body.jsonl --field body --id-field n -o i && index sample -o i --append && index i --check
index - -o i --segment-sentences 3 < inputs/lines.txt && run sample -s ir,corpus=paragraphs+i,exclude_verbatim=True
index inputs/repo/race --split dev -o i && index inputs/repo/mctest/sample.dev.tsv,reader=text -o j &&
  index inputs/lines.txt -o i
run inputs/repo/{mctest/sample.dev.tsv|race|race/dev/high|multirc/sample.json} --cv 2 --format json --save r
run inputs/repo/mctest/sample.dev.tsv --published && reproduce inputs/repo/mctest/sample.dev.tsv
  inputs/repo/multirc/sample.json
run inputs/small/{SMALL} --format json --save r && reproduce r && check
  inputs/small/{0}
predict inputs/small/{SMALL} -s longest && predict inputs/small/{0} -s longest --format jsonl
run inputs/other.jsonl --fields passage=ctx,question=q.text,candidates=opts,gold=ans --gold-as {letter|index1}
run inputs/other.{csv|tsv} --fields passage=ctx,question=ask,candidates=a+b,gold=ans --gold-as {letter|index1} &&
  run inputs/other.{0}
run inputs/small/cnn,reader=cnn-dailymail,subset=cnn -s max-frequency && run inputs/small/mctest,subset=mc160
  --split dev
"""

_KEPT = """
compare kept/fit-record/files/r --format json && compare kept/fit-record/files/r#longest
  kept/fit-record/files/r#sw+d
reproduce kept/fit-record/files/r && reproduce kept/fit-record/files/r/run.json --format {markdown|json} --jobs 2
run sample -s saved,path=kept/fit-{FITTED}/files/m.npz --save r --format json && reproduce r
all predict {TASK} -s saved,path=kept/fit-{FITTED}/files/m.npz --format jsonl
all explain {QUESTION} -s saved,path=kept/fit-{FITTED}/files/m.npz --format json
run sample -s ir,corpus=kept/indexed-{a|b}/files/i --save r && reproduce r && index
  kept/indexed-{0}/files/i --check
explain {QUESTION} -s ir,corpus=paragraphs+kept/indexed-{a|b}/files/i --format json
all run sample:{TASKNAME} -s kept/predicted-{0}/files/{p.jsonl|q} --format {table|json} --intervals 100
run sample:{TASKNAME} -s score-file,path=kept/predicted-{0}/files/p.jsonl --format json
compare kept/predicted-{TASKNAME}/files/p.jsonl longest --data sample:{0} --format csv
run sample:multiple-answer --figure pr -s mine=kept/predicted-multiple-answer/files/p.jsonl
  kept/predicted-multiple-answer/files/q
"""

_MADE = """
fit-record: run sample:single-choice -s longest -s sw+d -s surface-lr -s ir --cv 3 --intervals 100 --save r
fit-{surface|lexical|combined}: fit sample:single-choice -s
  {surface-lr|lexical,weights=learned|combination,solvers=[sw+d;ir],weights=stacked} -o m.npz
fit-{words|lm|spans}: fit sample:{multiple-answer|cloze|multi-span} -s {surface-lr|ngram-lm|span-ranker} -o m.npz
indexed-{a|b}: index {inputs/lines.txt|sample} -o i
predicted-{single-choice|multiple-answer|cloze|multi-span}: predict sample:{0} -s sw+d --format jsonl -o p.jsonl &&
  predict sample:{0} -s sw+d --ties first -o q
"""

_REAL = """
run data/{FILE} --format json --save r && reproduce r --search data
run data/{SMALLFILE} --format {table|latex} --published --intervals 300
run data/{multirc/train_456-fixedIds.json|dream/train.json|mcscript/train-data.xml} -s sw+d --format json
check data/{SMALLFILE} --format {table|json}
all predict data/{FILE} -s {sw+d|ir} -o p && run data/{0} -s p --format json
predict data/{SMALLFILE} -s random --format jsonl --ties random --seed 2
report data/{mctest/mc160.dev.tsv|record/record_explorer_123.json|multirc/dev_83-fixedIds.json} -o page.html
  --published
* all run data/mctest/{mc160|mc500}.{dev|train}.tsv -s sliding-window:mctest -s sw+d:mctest160 -s sw+d:mctest500 -s
  sw+d:richardson2013 -s sw+d:mcobzarenco -s lexical:smith2015-raw -s ir --ties partial --save r
* run data/mctest --split dev --format csv --published && run data/mctest,subset=mc160 --format json -s sw+d
run data/mctest/mc500.dev.tsv --train data/mctest/mc500.train.tsv -s
  {surface-lr|lexical,weights=learned|ngram-lm,corpus=passages+queries|"combination,solvers=[surface-lr;
  sw+d],weights=stacked"} --format json --save r
run data/mctest/mc160.dev.tsv -s
  score-file,path=data/mctest/scores/{RTE|Baseline_SW|Baseline_SW_D|BaselineInPaper_SW_D|RTE_Plus_BaselineSW_D}/mc160.dev.scores
  --by type --format json
all run data/mctest/{mc160|mc500}.{dev|train}.tsv -s data/mctest/scores/RTE/{0}.{1}.scores --intervals 200
all run data/mctest/{mc160|mc500}.{dev|train}.tsv -s data/mctest/smith2015/{0}.{1}.{norte|rte}.scores --ties
  {first|strict}
* run data/mctest/mc160.dev.tsv -s
  combination:mctest160-rte,score-file__path=data/mctest/scores/RTE/mc160.dev.scores
run data/mctest/mc500.dev.tsv -s combination:mctest500-rte,score-file__path=data/mctest/scores/RTE/mc500.dev.scores
* run data/mctest/mc160.dev.tsv -s
  lexical:smith2015{|-mc500},annotations=data/mctest/smith2015/mc160.dev.corenlp.json.gz,categories=data/mctest/categories/mc160.dev
  --save r
run data/mctest/mc160.dev.tsv -s
  lexical,annotations=data/mctest/smith2015/mc160.dev.corenlp.json.gz,coreference={rules|all},normaliser=lemma,bugs=all,categories=data/mctest/categories/mc160.dev
explain data/mctest/mc160.dev.tsv mc160.dev.3,1 -s
  {lexical|alignment-ilp|sw+d:mctest160|ngram-lm|ir:multirc2018|lexical:smith2015,annotations=data/mctest/smith2015/mc160.dev.corenlp.json.gz,categories=data/mctest/categories/mc160.dev}
  --format {text|json|html}
run data/mctest --split dev -s sw+d -s longest --labels data/annotations/mctest_skills_acl2017.json
  --intervals 300 --format {table|csv|json}
all run data/mctest/{mc160|mc500}.{dev|train}.tsv -s sw+d --labels data/mctest/categories/{0}.{1} --by
  categories --intervals 300
run data/race/RACE-train-dev.tar.gz --split train --labels data/annotations/race_question_types.jsonl --by
  reasoning-type,level -s sw+d --intervals 100
reproduce data/mctest --file rte=data/mctest/scores/RTE --format {table|json}
reproduce data/mctest/mc160.dev.tsv --file rte=data/mctest/scores/RTE/mc160.dev.scores --file
  annotations=data/mctest/smith2015/mc160.dev.corenlp.json.gz --file categories=data/mctest/categories/mc160.dev
  --check
reproduce data/{multirc/dev_83-fixedIds.json|record/record_explorer_123.json|dream/dev.json|mcscript/dev-data.xml}
  --check --format {table|csv}
compare sw+d lexical ir ngram-lm --data data/mctest/mc500.dev.tsv --intervals 500 --format {table|json}
* run data/multirc/dev_83-fixedIds.json
  -s data/multirc/baseline-scores/{allOnes|human-01|lucene_paragraphs|simpleLR}.json --format json --by
  question-type
* all run data/multirc/dev_83-fixedIds.json -s
  data/multirc/baseline-scores/raw/{simpleLR|lucene_paragraphs}-raw.json
  --threshold {exact|multirc2018} --tune-metric f1_m --intervals 200
run data/multirc/superglue/val.jsonl -s data/multirc/baseline-scores/human-01.json
run data/multirc/dev_83-fixedIds.json -s sw+d -s human=data/multirc/baseline-scores/human-01.json -s
  data/multirc/baseline-scores/raw/simpleLR-raw.json -o {c.csv|c.pdf|c.png} --figure {pr|pr-micro}
compare data/multirc/baseline-scores/{human-01|simpleLR}.json sw+d --data data/multirc/dev_83-fixedIds.json
  --intervals 300 --metrics f1_a
run data/multirc/dev_83-fixedIds.json --train data/multirc/train_456-fixedIds.json -s
  {surface-lr|surface-lr:multirc2018|surface-lr:mitre2018|negation} --tune-metric f1_m --save r
run data/multirc/dev_83-fixedIds.json -s ir:multirc2018 --threshold 0.0499 -s {ir:clark2016|alignment-ilp|lexical}
  --cv 5 --save r
run data/multirc/dev_83-fixedIds.json --tune data/multirc/train_456-fixedIds.json -s sw+d --by sentences_used
  --format csv
run data/multirc/superglue/val.jsonl -s sw+d --format json --save r && predict data/multirc/superglue/val.jsonl -s
  sw+d
* run data/record/{record_explorer_123.json|record_fixture_12.json|superglue_format_example.jsonl} --format json
  --save r
run data/record/record_explorer_123.json --cv 4 -s ngram-lm,order=5,cache_weight=0.1 -s surface-lr -s
  cloze-window:hill2015 -s cloze-distance:hill2015 --ties strict --save r
* run data/dream/dev.json -s sliding-window:dream -s sw+d:dream -s word-distance:dream -s sliding-window:mctest
  --save r
run data/dream/dev.json --train data/dream/train.json -s surface-lr -s length --format json
* run data/mcscript/dev-data.xml -s sw+d -s ir -s longest --by question-type --save r
run data/mcscript/dev-data.xml --train data/mcscript/train-data.xml -s surface-lr:mitre2018 --drop-overlap --format
  json
run data/race/RACE-train-dev.tar.gz --split dev --by level -s sw+d -s sliding-window:race -s ir -s longest
  --format json
run data/race/RACE-train-dev.tar.gz,subset={middle|high} --split dev -s ngram-lm,normalise=length -s lexical
  --save r
run data/race/RACE-train-dev.tar.gz,subset=middle --split train -s longest --format json
run data/quoref/quoref-dev-v0.1.json -s random -s span-sw:squad2016 -s span-sw:squad2016-distance --save r
  --intervals 100
run data/quoref/quoref-dev-v0.1.json,spans=5 -s span-ranker,margin=0.5 --cv 2 --format json
predict data/quoref/quoref-dev-v0.1.json,spans=4 -s span-sw -o p && run data/quoref/quoref-dev-v0.1.json -s p &&
  check data/quoref/quoref-dev-v0.1.json
index data/mctest data/dream/dev.json -o i && run data/mctest/mc160.dev.tsv -s ir,corpus=i,exclude_verbatim=True
  --save r && explain data/mctest/mc160.dev.tsv mc160.dev.3,1 -s ir,corpus=i
fit data/multirc/train_456-fixedIds.json -s surface-lr -o m.npz && run data/multirc/dev_83-fixedIds.json -s
  saved,path=m.npz --format json
"""

_ERRORS = """
||rnu sample|run|predict sample|list solver|list|run nothing.json|run inputs/nowhere/|run sample:single
list --bibtex nothing|list metrics --bibtex sw+d|list --bibtex --format json
run ONE --ties maybe|run ONE --format xml|run ONE --gold-as number|run ONE --seed x|run ONE --threshold high
run ONE --threshold nan|run ONE --jobs 0|run ONE --jobs -2|run ONE --jobs two|run ONE,spans=0
run ONE,spans=ten|run ONE --tresh 1|run ONE --cv 1|run ONE --cv x|run ONE --cv 99|run ONE --by levle
run ONE,reader=json|run ONE --split test|run ONE,subset=x|run ONE --intervals 0|run ONE --baseline nobody
run ONE -s longest sample:cloze|run ONE -s slidingwindow|run ONE -s sw+d:mctest16|run ONE -s sw+d,wndow=3
run ONE -s sw+d,analyzer=wrd|run ONE -s sw+d,stop_words=smrt|run ONE -s longest,words|run ONE -s longest,unit=miles
run ONE -s longest,decision=first|run ONE -s all-positive|run ONE -s constant-position:majority
run ONE -s constant-position:majority --train sample:cloze|run ONE -s sliding-window,window=0
run ONE -s sliding-window,window=-3|run ONE -s surface-lr|run ONE -s surface-lr,C=-1 --cv 2
run ONE -s surface-lr,features=none --cv 2|run ONE -s ir,engine=none|run ONE -s ir,similarity=none
run ONE -s ir,depth=0|run ONE -s ir,corpus=inputs/nowhere|run ONE -s ir,engine=opensearch
run ONE -s ngram-lm,order=0|run ONE -s span-sw|run ONE -s saved|run ONE -s saved,path=none.npz
run ONE -s saved,path=inputs/lines.txt|run ONE -s score-file|run ONE -s score-file,path=none
run ONE -s score-file,path=inputs/lines.txt|run ONE -s lexical:smith2015
run ONE -s "combination,solvers=[sw+d; rte]"|run ONE -s "combination,solvers=[sw+d; ir"|run ONE -s combination
run ONE -s inputs/none.py:Solver|run ONE -s inputs/own.py:Nothing|run ONE -s inputs/broken.py:Solver
run ONE -s inputs/own.py:{Raises|Short|Wrong}|run ONE -o inputs|run ONE -o no/such/folder.txt
run ONE --save inputs/lines.txt|run ONE --train none.json|run ONE --train ONE -s surface-lr
run ONE --tune sample:cloze|run ONE -s ir,corpus=inputs/repo|run ONE inputs/nowhere.json --format csv
run sample:multiple-answer --tune-metric f1a|run sample:multi-span -s sliding-window:race
run sample:multiple-answer -s longest --tune-metric quoref_f1|run sample:multi-span,spans=99999999999 -s random
run inputs/hidden.jsonl|run inputs/hidden.jsonl -s inputs/lines.txt|check inputs/hidden.jsonl
compare longest --data inputs/hidden.jsonl|predict inputs/hidden.jsonl -s longest
report inputs/hidden.jsonl -o p.html|predict ONE -s longest --format jsnl|predict ONE -s longest --format record
predict ONE -s longest --format mctest-answers --ties strict|predict ONE -s longest -o inputs|explain ONE lantern.11
explain ONE|explain ONE lantern.1 -s sliding-window:race|explain ONE lantern.1 -s nothing
run ONE -s inputs/lines.txt|run ONE -s none|run ONE -s inputs/bad/scores.jsonl
run ONE -s mctest-scores:inputs/bad/scores.txt
run sample:cloze -s inputs/bad/record.json|run sample:multi-span -s inputs/bad/squad.json
run ONE -s no:inputs/lines.txt|compare sw+d|compare none/run.json|compare sw+d longest --data ONE --metrics f1
compare nothing --data ONE|compare inputs/lines.txt|reproduce none|reproduce inputs/lines.txt
reproduce inputs/bad/empty.json
run ONE --by levle|run ONE --labels none.csv|run ONE --labels inputs/bad/labels.csv
run ONE --labels inputs/lines.txt|run ONE --figure groups -o a.doc --by type|run ONE --figure pr
run sample:multiple-answer --figure pr -s sw+d -o a.doc|run sample:multi-span --figure pr -s span-sw
fit ONE -s sw+d -o m|fit ONE -s surface-lr|fit inputs/hidden.jsonl -s surface-lr -o m
fit ONE -s surface-lr,learner=sgd -o m|index|index inputs/lines.txt|index none -o i|index inputs/repo --check
index inputs/lines.txt -o inputs/own.py|index - -o i|index inputs/bad/packed.jsonl.gz -o i|reproduce none
reproduce ONE --file x=y|report ONE|report none -o p.html|check none|check ONE --cv x
run inputs/bad/packed.jsonl.gz|run inputs/bad/archive.tar.gz
"""

_TESTING = """
grade inputs/assignments/solver/my_solver.py --assignment solver --seed 1|grade inputs/own.py
grade inputs/solutions/solver.py --assignment solver --seed 1|grade none.py --assignment solver
grade inputs/solutions/bug.py --assignment bug --seed 1|grade inputs/broken.py --assignment solver
grade inputs/solutions --assignment solver -o g.csv --seed 1|grade inputs/solutions --assignment bug --timeout 0
grade --assignment leak --hand-out leak --seed 1|grade leak/my_leak.py --assignment leak --seed 1
"""

_SCRIPTS = {
    "evaluate": """
for name in ("single-choice", "multiple-answer", "cloze", "multi-span"):
    dataset = rc.load(f"sample:{name}")
    solvers = [rc.parse_solver(spec) for spec in ("sw+d", "ir", "longest", "random")]
    evaluation = rc.evaluate(dataset, solvers, by="type", ties="strict", seed=3)
    print(dataset, evaluation._repr_html_(), list(evaluation.warnings), list(evaluation.notes))
    for row in evaluation.rows:
        print(row.name, row.signature, row.metrics(), row.tie_rate, row.threshold)
""",
    "scores": """
for name in ("single-choice", "multiple-answer", "cloze"):
    dataset = rc.load(f"sample:{name}")
    for spec in ("sw+d:mctest500", "ir:paragraphs", "ngram-lm", "surface-lr", "cloze-distance", "lexical"):
        solver = rc.parse_solver(spec)
        if dataset.task in solver.tasks:
            solver.fit(dataset)
            scores = solver.score_candidates(dataset)
            print(solver, solver.get_params(), len(scores), [[float(x).hex() for x in s] for s in scores])
            print(solver.explain(dataset[0]), file=open("explained.txt", "a"))
""",
    "decisions": """
scores = rc.Scores.from_lists([[0.5, 0.5, 0.1], [1, 2, 2 - 1e-9], [0, -1, 3]])
dataset = rc.load("sample:multiple-answer")
rules = [rc.Argmax(ties=t, seed=5) for t in ("partial", "first", "random", "strict")]
for rule in [*rules, rc.Threshold(value=0.5), rc.TunedThreshold(), rc.RelativeThreshold(margin=0.5)]:
    solver = rc.parse_solver("sw+d").set_params(decision=rule)
    print(rule, repr(scores))
    try:
        print([(r.name, r.metrics(), r.threshold) for r in rc.evaluate(dataset, [solver]).rows])
    except Exception as error:
        print(type(error).__name__, error)
""",
    "rows": """
rows = [{"id": "a", "passage": "Ann met Bob.", "question": "Who met Bob?", "candidates": ["Ann", "Eve"], "gold": 0}]
dataset = rc.from_rows(rows)
question = dataset[0]
print(dataset, question, question.passage, question.candidates, question.gold, question.task, dataset.fingerprint)
print(rc.evaluate(dataset, [rc.parse_solver("sw+d")]).rows[0].metrics(), rc.encode(dataset, "word").arrays)
passage, candidates = rc.Passage("p", "Bob sang."), (rc.Candidate("Bob"),)
print(rc.Question("1", passage, "Who?", candidates, frozenset({0}), rc.Task.SINGLE_CHOICE))
for bad in ([{}], [{"passage": "x"}], [{**rows[0], "gold": 9}], rows * 2):
    try:
        print(rc.from_rows(bad))
    except Exception as error:
        print(type(error).__name__, error)
""",
    "sklearn": """
import pickle
from sklearn.base import clone
dataset = rc.load("sample:single-choice")
for spec in ("surface-lr", "sw+d", "lexical,weights=learned", "combination,solvers=[sw+d; ir],weights=stacked"):
    solver = clone(rc.parse_solver(spec)).fit(dataset)
    again = pickle.loads(pickle.dumps(solver))
    print(spec, [s.tolist() for s in again.score_candidates(dataset)], solver.score(dataset))
""",
    "testing": """
from classic_rc.testing import check_solver, synthetic_dataset
for task in rc.Task:
    try:
        questions = synthetic_dataset(task)
        print(task, questions, [(q.id, q.text, [c.text for c in q.candidates], q.gold) for q in questions])
    except Exception as error:
        print(type(error).__name__, error)
check_solver(rc.parse_solver("sw+d"))
print(dir(rc))
""",
}

_OWN = '''
import classic_rc


class Middle(classic_rc.Solver):
    """How near a candidate is to a length."""

    def __init__(self, *, weight=1.0, decision=None):
        self.weight = weight
        self.decision = decision

    def score_candidates(self, questions):
        return classic_rc.Scores.from_lists([self.score_of(c) for c in q.candidates] for q in questions)

    def score_of(self, candidate):
        return -abs(len(candidate.text) - 9) * self.weight


class Raises(Middle):
    def score_candidates(self, questions):
        raise ValueError("no")


class Short(Middle):
    def score_candidates(self, questions):
        return classic_rc.Scores.from_lists([[1.0]])


class Wrong(Middle):
    def score_candidates(self, questions):
        return 5
'''

# --------------------------------------------------------------------------------------------------
# Input files: a small file for every reader, and the same files damaged.

_STORY = "\t".join(
    r"Author: 1|Ann had a red kite.\newline\tabIt flew, and Bob found it.|one: Who had a kite?|Ann|Bob|none|a cat|"
    r"multiple: Why did it fly?|wind|luck|a bird|magic|one: What colour was it?|blue|red|green|grey|"
    r"multiple: Who found it?|Ann|a cat|Bob|a boy".split("|")
)
_NEWS = {
    "text": "Ann Lee met Bob in Rome.\n@highlight\nBob likes Rome",
    "entities": [{"start": s, "end": e} for s, e in ((0, 6), (12, 14), (19, 22), (36, 38))],
}
_QUERY = {"query": "@placeholder was glad", "answers": [{"start": 12, "end": 14, "text": "Bob"}]}
_LETTERS = "Maya wrote to Ines and to Paul. Then she slept."
_ROW = {
    "id": "o1",
    "passage": "Ann met Bob. Eve sang.",
    "question": "Who sang?",
    "candidates": ["Ann", "Eve", "Bob"],
    "gold": 1,
    "sentences": [[0, 12], [13, 22]],
    "meta": {"level": 1},
}


def _squad(answers: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    questions = [{"id": "s1", "question": "Who got a letter?", "answers": answers, **more}]
    return {
        "data": [
            {
                "title": "L",
                "paragraphs": [{"context": _LETTERS, "context_id": "c1", "qas": questions}],
            }
        ]
    }


def _small() -> dict[str, Any]:
    """Return a small file for every reader: text, or data to write as JSON."""
    ines, paul = {"text": "Ines", "answer_start": 14}, {"text": "Paul", "answer_start": 25}
    cases = [
        {"text": "rain", "isAnswer": True},
        {"text": "a flood", "isAnswer": True},
        {"text": "", "isAnswer": False},
    ]
    rained = (
        "<b>Sent 1: </b>It rained.<br> <b>Sent 2: </b>The river rose <br><b>Sent 3: </b>Ann "
        "left.<br>"
    )
    asked = [
        {
            "question": "What happened?",
            "sentences_used": [0, 1],
            "answers": cases,
            "idx": "0",
            "multisent": True,
        }
    ]
    labelled = [
        {"text": "the river", "idx": 9, "label": 1},
        {"text": "rain", "idx": 10, "label": 0},
    ]
    rose = [{"question": "What rose?", "answers": labelled, "idx": 4}]
    options = [["a drum", "a flute", "a song", "cards"], ["Tom", "his sister", "both", "a bird"]]
    names = "Ann|Bob|Carla|Dora|Emil|Fay|Gus|Hal|Ida|Jo"
    choices = [{"text": "heat", "label": "A"}, {"text": "salt", "label": "B"}]
    return {
        "mctest/mc160.dev.tsv": "".join(f"mc160.dev.{i}\t{_STORY}\n" for i in range(2)),
        "mctest/mc160.dev.ans": "A\tA\tB\tC\nA\tB\tB\tC\n",
        "race/dev/middle/7.txt": {
            "id": "middle7.txt",
            "article": "Tom plays the drum.\nHis sister sings.",
            "questions": ["What does Tom play?", "Who sings?"],
            "options": options,
            "answers": ["A", "B"],
        },
        "multirc.json": {
            "data": [{"id": "News/rain.txt", "paragraph": {"text": rained, "questions": asked}}]
        },
        "superglue.jsonl": {
            "idx": 3,
            "passage": {"text": "It rained. The river rose.", "questions": rose},
        },
        "record.json": {
            "data": [
                {"id": "p1", "source": "CNN", "passage": _NEWS, "qas": [{"id": "q1", **_QUERY}]}
            ]
        },
        "record.jsonl": {
            "source": "CNN",
            "idx": 5,
            "passage": _NEWS,
            "qas": [{"idx": 8, **_QUERY}],
        },
        "cnn/questions/test/1.question": "http://a.example/rome\n\n@entity2 , who met @entity0 in "
        "@entity11 , said @entity0 was glad .\n\n@placeholder likes "
        "@entity11\n\n@entity0\n\n@entity0:Bob Lee\n@entity2:Ann\n@entity11:Rome\n",
        "cbtest_NE_test_2500ex.txt": "".join(
            "".join(f"{i} {name} had {i} `` figs '' .\n" for i in range(1, 21))
            + f"21 Then XXXXX ate them all .\t{name}\t\t{names}\n\n"
            for name in ("Fay", "Hal")
        ),
        "squad.json": _squad([ines], is_impossible=False),
        "quoref.json": _squad([ines, paul]),
        "dream.json": [
            [
                ["M: Shall we walk?", "W: I would rather drive."],
                [
                    {
                        "question": "What will she do?",
                        "choice": ["walk", "drive", "fly"],
                        "answer": "drive",
                    }
                ],
                "12-3",
            ]
        ],
        "mcscript-dev.xml": '<?xml version="1.0"?><data><instance id="4"><text>I boiled water '
        '&amp; had tea.</text><questions><question id="0" text="What was made?" '
        'type="text"><answer id="0" text="soup" correct="False"/><answer id="1" text="tea" '
        'correct="True"/></question></questions></instance></data>',
        "arc.jsonl": {
            "id": "a1",
            "question": {"stem": "What melts ice?", "choices": choices},
            "answerKey": "A",
        },
        "hf-race.jsonl": {
            "example_id": "high1.txt",
            "article": "Tom plays the drum.",
            "question": "What does Tom play?",
            "options": ["a drum", "a flute", "a song", "cards"],
            "answer": "A",
        },
        "hf-arc.jsonl": {
            "id": "a1",
            "question": "What melts ice?",
            "choices": {"text": ["heat", "salt"], "label": ["A", "B"]},
            "answerKey": "A",
        },
        "hf-squad.jsonl": {
            "id": "s1",
            "title": "L",
            "context": _LETTERS,
            "question": "Who slept?",
            "answers": {"text": ["Maya"], "answer_start": [0]},
        },
        "hf-dream.jsonl": {
            "id": 0,
            "dialogue_id": "12-3",
            "dialogue": ["M: Shall we walk?", "W: I drive."],
            "question": "What will she do?",
            "choice": ["walk", "drive", "fly"],
            "answer": "drive",
        },
        "own.jsonl": _ROW,
        "table.csv": "id,passage,question,candidate_0,candidate_1,gold,level\n"
        'a,"Ann met Bob.",Who met Bob?,Ann,Eve,0,easy\nb,"Ann met Bob.",Whom did Ann '
        "meet?,Eve,Bob,1,hard\n",
        "table.tsv": "passage\tquestion\tcandidate_0\tcandidate_1\tgold\nBob sang.\tWho "
        "sang?\tBob\tEve\t0\n",
    }


_DAMAGE = """
race/dev/middle/7.txt "B" "E"|race/dev/middle/7.txt "his sister" null|race/dev/middle/7.txt middle7 high7
multirc.json true 0|multirc.json <b> <i>|multirc.json "News "New|multirc.json [0, [9,|multirc.json "rain" null
multirc.json "isAnswer" "is"|superglue.jsonl "label": "label":7|superglue.jsonl "idx": "id":
record.json @placeholder He|record.json "end": "stop":|record.json 38 999|record.jsonl "Bob" 3
record.json "entities" "none"|squad.json 14 "x"
squad.json _s1" 5|squad.json "context": "text":
quoref.json "c1" []|quoref.json Ines Nobody|dream.json "drive"} "run"}
dream.json "walk", "drive",|dream.json "12-3" []|mcscript-dev.xml </text> |mcscript-dev.xml True Perhaps
mcscript-dev.xml <data> <!DOCTYPE_d>|arc.jsonl "B" "A"|arc.jsonl "A"} "C"}|hf-race.jsonl "A" "Q"|own.jsonl 1, 7,
own.jsonl 1, -1,|own.jsonl 1, false,|own.jsonl 1, "Zoe",|own.jsonl 1, [1,1],|own.jsonl 1, [],|own.jsonl "Eve" ""
own.jsonl "Eve" null|own.jsonl "candidates" "options"|own.jsonl "question" "query"|own.jsonl 22 99|own.jsonl { [
own.jsonl "gold" "task":"cloze","gold"|own.jsonl "gold" "task":"nothing","gold"|own.jsonl "id" "id":1,"id"
table.csv gold right|table.csv ,0, ,5,|table.csv Ann, ,,,|table.tsv Eve |cbtest_NE_test_2500ex.txt XXXXX who
mctest/mc160.dev.tsv one: |mctest/mc160.dev.tsv dev.1 dev.0|mctest/mc160.dev.tsv red\t |mctest/mc160.dev.ans C E
mctest/mc160.dev.ans A\tB A|cnn/questions/test/1.question @placeholder Who
cnn/questions/test/1.question @entity0 @entity9
"""


_WORDS = ("old fox miller ferry", "sings waits sleeps", "river garden town mill")


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
        return
    text = content if isinstance(content, str) else json.dumps(content) + "\n"
    path.write_text(text, encoding="utf-8", newline="")


def _rows(*changes: dict[str, Any]) -> str:
    plain = {key: value for key, value in _ROW.items() if key != "sentences"}
    return "".join(
        json.dumps({**plain, "id": f"q{i}", **change}) + "\n" for i, change in enumerate(changes)
    )


def write_inputs(folder: Path) -> list[str]:
    """Write all inputs of commands except the datasets, and return the names of the damaged
    files.
    """
    shutil.copytree(ROOT / "data", folder / "repo")
    cached = shutil.ignore_patterns("__pycache__")
    shutil.copytree(
        ROOT / "classic_rc" / "commands" / "grade" / "assignments",
        folder / "assignments",
        ignore=cached,
    )
    shutil.copytree(
        ROOT / "tests" / "commands" / "grade" / "solutions", folder / "solutions", ignore=cached
    )
    small = _small()
    for name, content in small.items():
        _write(folder / "small" / name, content)
    lines = "".join(
        f"The {a} {b} near the {c}.\n" for a, b, c in itertools.product(*map(str.split, _WORDS))
    )
    other = {
        "ctx": "Ann met Bob.",
        "q": {"text": "Who met Bob?"},
        "opts": ["Eve", "Ann"],
        "ans": "B",
    }
    skills = {
        f"{story}.{n}": ["who", "where"][: n % 3]
        for story in ("lantern", "kites")
        for n in range(1, 5)
    }
    words = (
        "a cat",
        "a dog that is not small",
        "an owl",
        "it is the longest of all the options here, which is right",
    )
    files: dict[str, Any] = {
        "lines.txt": lines,
        "lines.txt.gz": gzip.compress(lines.encode(), mtime=0),
        "rows.jsonl": _rows(*({"text": line} for line in lines.splitlines()[:20])).replace(
            '"passage"', '"other"'
        ),
        "body.jsonl": "".join(
            json.dumps({"n": f"d{i}", "body": text}) + "\n"
            for i, text in enumerate(lines.split(".")[:9])
        ),
        "hidden.jsonl": _rows(
            {"gold": None, "task": "single-choice"}, {"gold": None, "task": "single-choice"}
        ),
        "twice.jsonl": _rows(
            {}, {}, {"candidates": ["Ann", "Ann", ""], "gold": 1}, {"gold": 2}, {"passage": ""}
        ),
        "leaky.jsonl": _rows(
            *(
                {"passage": f"Story {i}.", "passage_id": str(i), "candidates": words, "gold": 3}
                for i in range(40)
            )
        ),
        "other.jsonl": other,
        "other.csv": "ctx,ask,a,b,ans\nAnn met Bob.,Who met Bob?,Eve,Ann,B\n",
        "other.tsv": "ctx\task\ta\tb\tans\nAnn met Bob.\tWho met Bob?\tEve\tAnn\t2\n",
        "labels.csv": "id,skills,level\n"
        + "".join(f"{k},{';'.join(v) or '-'},easy\n" for k, v in skills.items()),
        "labels.jsonl": "".join(
            json.dumps({"id": k, "skills": v}) + "\n" for k, v in skills.items()
        ),
        "labels.json": {k: {"skills": v} for k, v in skills.items()},
        "own.py": _OWN,
        "broken.py": "import classic_rc\nclass Solver(:\n",
        "bad/labels.csv": "id,skills\nnobody.1,who\n",
        "bad/scores.jsonl": '{"question_id": "lantern.1", "candidate": 0, "text": "x", "score": '
        "1}\n",
        "bad/scores.txt": "1,2,3\t4\n",
        "bad/record.json": {"nobody": "Ann"},
        "bad/squad.json": {"map-maker.1": 5},
        "bad/packed.jsonl.gz": gzip.compress(json.dumps(_ROW).encode(), mtime=0)[:-9],
        "bad/archive.tar.gz": gzip.compress(b"no archive" * 99, mtime=0),
        **{
            f"scripts/{name}.py": f"import classic_rc as rc\n{text}"
            for name, text in _SCRIPTS.items()
        },
    }
    texts = (
        "",
        "\n\n",
        "{",
        "[]",
        "{}",
        "\0\0",
        "a,b\n1,2\n",
        "nothing at all\n",
        '{"a": NaN}',
        "\ufeff{}",
        "[" * 5000,
    )
    damaged = {f"{i}-text": text for i, text in enumerate(texts)} | {
        "latin": b'{"passage": "\xe9t\xe9"}\n'
    }
    damaged |= {
        "twice.jsonl": _rows({"id": "same"}, {"id": "same"}),
        "mixed.jsonl": _rows({}, {"gold": [0]}, {"gold": "x"}),
    }
    for name, content in (
        files | {f"bad/{name}": content for name, content in damaged.items()}
    ).items():
        _write(folder / name, content)
    names = [f"bad/{name}" for name in damaged]
    for number, change in enumerate(_lines(_DAMAGE)):
        name, old, new = change.split(" ", 2)
        place = f"bad/{number}/{name}"
        if "/" in name:  # the reader also needs the files next to it
            shutil.copytree((folder / "small" / name).parent, (folder / place).parent)
        text = small[name] if isinstance(small[name], str) else json.dumps(small[name])
        _write(folder / place, text.replace(old.replace("_", " "), new.replace("_", " ")))
        names.append(place.replace(".ans", ".tsv"))
    return names


# --------------------------------------------------------------------------------------------------
# From the lists to commands.


_BRACES = r"\{(?!\d\})([^{}]*)\}"


def _lines(text: str, sign: str = "|") -> Iterator[str]:
    """Yield the entries of a list: its lines, split at bars outside braces."""
    for line in text.strip("\n").replace("\n  ", " ").splitlines():
        yield from re.split(r"\|(?![^{}]*\})", line) if sign else [line]


def _expanded(line: str, sets: dict[str, list[str]]) -> Iterator[str]:
    """Yield a line with each value of its braces in turn, or with all combinations if it begins
    with `all`.
    """
    every, line = line.startswith("all "), line.removeprefix("all ")
    choices = [sets.get(group, group.split("|")) for group in re.findall(_BRACES, line)]
    most = max(map(len, choices), default=1)
    cycled = ([choice[i % len(choice)] for choice in choices] for i in range(most))
    for chosen in itertools.product(*choices) if every else cycled:
        parts = iter(chosen)
        text = re.sub(_BRACES, lambda _, parts=parts: next(parts), line)  # type: ignore[misc]
        yield re.sub(r"\{(\d)\}", lambda found, chosen=chosen: chosen[int(found[1])], text)  # type: ignore[misc]


def commands(folder: Path, real: bool, listed: Callable[[str], list[str]]) -> list[Command]:
    """Write the inputs to `folder`, and return the list of commands."""
    damaged = write_inputs(folder)
    tasks = {
        "single-choice": "lantern.1",
        "multiple-answer": "bakery.1",
        "cloze": "cabo-race.1",
        "multi-span": "map-maker.1",
    }
    samples = [f"sample:{task}" for task in tasks]
    questions = [f"sample:{task} {id}" for task, id in tasks.items()]
    files = [
        f"mctest/{name}.tsv" for name in ("mc160.dev", "mc160.train", "mc500.dev", "mc500.train")
    ]
    files += ["multirc/dev_83-fixedIds.json", "record/record_explorer_123.json"]
    more = (
        "multirc/train_456-fixedIds.json multirc/superglue/val.jsonl record/record_fixture_12.json "
        "dream/dev.json"
    )
    more += " record/superglue_format_example.jsonl mcscript/dev-data.xml"
    sets = {
        "TASK": samples,
        "TASKNAME": list(tasks),
        "QUESTION": questions,
        "TRAINED": [
            f"{question} --train {task}" for question, task in zip(questions, samples, strict=True)
        ],
        "KEY": [*listed("keys"), "type"],
        "ANALYZER": listed("analyzers"),
        "FORMAT": listed("formats"),
        "SOLVERS": [" ".join(listed("solvers") + listed("variants"))],
        "METRICS": [" ".join(listed("metrics"))],
        "READERS": [" ".join(listed("readers"))],
        "FITTED": "surface lexical combined words lm spans".split(),
        "SMALL": list(dict.fromkeys(n.partition("/")[0] for n in _small())),
        "SMALLFILE": files,
        "FILE": [
            *files,
            *more.split(),
            "race/RACE-train-dev.tar.gz --split dev",
            "quoref/quoref-dev-v0.1.json",
        ],
    }
    made: list[Command] = []

    def add(
        group: str,
        text: str,
        program: str = "classic-rc",
        *,
        quick: bool = True,
        late: bool = False,
    ) -> None:
        named = re.match(r"(\S+): ", text)
        id = (
            named[1]
            if named
            else f"{group}-{sum(c.id.startswith(group + '-') for c in made) + 1:03}"
        )
        steps = [
            [program, *shlex.split(step)]
            for step in text[named.end() if named else 0 :].split(" && ")
        ]
        made.append(Command(id, steps, quick, late))

    specs = [
        spec for line in _SPECS.split("\n") for part in line.split() for spec in _expanded(part, {})
    ]
    for spec in [*listed("solvers"), *listed("variants"), *specs]:
        text = f"run sample -s '{spec}' --cv 3 --save r && run sample -s '{spec}' --format json"
        for task, id in tasks.items():
            text += f" && predict sample:{task} -s '{spec}' --cv 3 --format jsonl -o {task}"
            text += (
                f" && explain sample:{task} {id} -s '{spec}' --train sample:{task} --format json"
            )
        add("solver", text)
    for text, group in ((_MADE, "made"), (_SAMPLE, "sample"), (_KEPT, "kept"), (_REAL, "real"))[
        : 4 if real else 3
    ]:
        for line in _lines(text, ""):
            quick = group != "real" or line.startswith("* ")
            for entry in _expanded(line.removeprefix("* "), sets):
                add(group, entry, quick=quick, late=group == "kept")
    for line in _lines(_ERRORS):
        for entry in _expanded(line.replace("ONE", "sample:single-choice"), {}):
            add("error", entry)
    for name in damaged:
        add("damaged", f"run inputs/{name} -s longest && check inputs/{name}")
    for line in _lines(_TESTING):
        add("testing", line)
    for name in _SCRIPTS:
        add("script", f"script-{name}: inputs/scripts/{name}.py", "python")
    return made
